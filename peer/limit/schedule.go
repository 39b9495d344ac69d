package limit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Schedule is a list of limits for days and hours. The last matching entry takes precedence.
type Schedule []Entry

// An Entry is an entry of a [Schedule].
type Entry struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes of the day; to is less than from if it is on the next day
	limits   Change
	text     string
}

// day is the minutes of a day on a clock.
const day = 24 * 60

//nolint:gochecknoglobals // a constant table
var weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// NewEntry returns an entry. Days are such as "mon-fri" or "sat,sun", empty for all. Hours are such
// as "08:00-18:00", in local time, empty for the whole day. Hours such as "22:00-06:00" start on one
// of the days and end on the next.
func NewEntry(days, hours string, limits Change) (Entry, error) {
	e := Entry{limits: limits}
	if limits.IsZero() {
		return e, fmt.Errorf("no limit: name one of %s", strings.Join(Names[:], ", "))
	}
	if err := e.setDays(days); err != nil {
		return e, err
	}
	if err := e.setHours(hours); err != nil {
		return e, err
	}
	e.text = strings.Join(slices.DeleteFunc([]string{days, hours}, func(s string) bool { return s == "" }), " ")
	if e.text == "" {
		e.text = "always"
	}
	return e, nil
}

func (e *Entry) setDays(text string) error {
	for part := range strings.SplitSeq(cmp.Or(text, "sun-sat"), ",") {
		first, last, isRange := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "-")
		if !isRange {
			last = first
		}
		a, b := slices.Index(weekdays[:], first), slices.Index(weekdays[:], last)
		if a < 0 || b < 0 {
			return fmt.Errorf(`days %q: must be days such as "mon-fri" or "sat,sun"`, text)
		}
		for d := a; ; d = (d + 1) % len(weekdays) {
			e.days[d] = true
			if d == b {
				break
			}
		}
	}
	return nil
}

func (e *Entry) setHours(text string) error {
	from, to, _ := strings.Cut(cmp.Or(text, "00:00-24:00"), "-")
	var noStart, noEnd error
	e.from, noStart = parseMinute(from)
	e.to, noEnd = parseMinute(to)
	switch {
	case noStart != nil || noEnd != nil:
		return fmt.Errorf(`hours %q: must be hours such as "08:00-18:00"`, text)
	case e.from == e.to || e.from == day:
		return fmt.Errorf("hours %q: the end equals the start", text)
	}
	return nil
}

// parseMinute returns the minute of the day of a time such as "08:00".
func parseMinute(text string) (int, error) {
	if text = strings.TrimSpace(text); text == "24:00" {
		return day, nil
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err
}

// String returns the days and hours.
func (e *Entry) String() string { return e.text }

// holds reports whether the entry holds at a time on the clock of the time's location.
func (e *Entry) holds(at time.Time) bool {
	now, today := at.Hour()*60+at.Minute(), at.Weekday()
	if e.from < e.to {
		return e.days[today] && e.from <= now && now < e.to
	}
	yesterday := (today + 6) % 7
	return e.days[today] && e.from <= now || e.days[yesterday] && now < e.to
}

// at returns the scheduled limits at a time, and the entry that sets each limit, or nil.
func (s Schedule) at(now time.Time) (c Change, by [len(Names)]*Entry) {
	for i := range s {
		e := &s[i]
		if !e.holds(now) {
			continue
		}
		c = c.Then(e.limits)
		for k, r := range e.limits.rates() {
			if *r != nil {
				by[k] = e
			}
		}
	}
	return c, by
}

// until returns the first minute after now in which another entry, or none, sets limit k. It is zero if
// there is no such minute within eight days.
func (s Schedule) until(k int, now time.Time) time.Time {
	sets := func(e Entry) bool { return *e.limits.rates()[k] != nil }
	if !slices.ContainsFunc(s, sets) {
		return time.Time{}
	}
	_, by := s.at(now)
	for at := now.Truncate(time.Minute); at.Sub(now) < 8*day*time.Minute; at = at.Add(time.Minute) {
		if _, then := s.at(at); at.After(now) && then[k] != by[k] {
			return at
		}
	}
	return time.Time{}
}
