package limit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// down returns an entry that limits wan-down.
func down(t *testing.T, days, hours string, r Rate) Entry {
	t.Helper()
	e, err := NewEntry(days, hours, Change{WANDown: &r})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNewEntryRejects(t *testing.T) {
	r := Rate(1e6)
	for _, bad := range []struct{ days, hours string }{
		{"monday", ""}, {"mon-", ""}, {"mon,,tue", ""}, {"", "8-18"}, {"", "08:00"}, {"", "08:00-08:00"}, {"", "24:00-06:00"},
		{"", "25:00-26:00"}, {"", "08:60-09:00"}, {"", "-08:00"},
	} {
		if _, err := NewEntry(bad.days, bad.hours, Change{WANDown: &r}); err == nil {
			t.Errorf("%q %q is taken", bad.days, bad.hours)
		}
	}
	if _, err := NewEntry("mon", "08:00-09:00", Change{}); err == nil {
		t.Error("an entry without a limit is taken")
	}
}

// TestSchedule looks at entries that overlap, cross midnight, and meet daylight saving: the clock on
// the wall counts.
func TestSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	s := Schedule{
		down(t, "mon-fri", "08:00-18:00", 20e6),
		down(t, "fri,sat", "22:00-06:00", 1e6),
		down(t, "mon", "12:00-13:00", 5e6),
		down(t, "sun", "02:00-03:00", 7e6), // in March there is no such hour, in October there are two
		down(t, "thu-tue", "07:00-07:01", 9e6),
	}
	p := NewPolicy(Limits{WANDown: 50e6, LANUp: 3e6}, s)
	for _, c := range []struct {
		at   string
		want Rate
		till string
	}{
		{"2026-11-23T07:59:59+01:00", 50e6, "2026-11-23T08:00:00+01:00"}, // Monday
		{"2026-11-23T08:00:00+01:00", 20e6, "2026-11-23T12:00:00+01:00"},
		{"2026-11-23T12:30:00+01:00", 5e6, "2026-11-23T13:00:00+01:00"},
		{"2026-11-23T18:00:00+01:00", 50e6, "2026-11-24T07:00:00+01:00"},
		{"2026-11-25T07:00:30+01:00", 50e6, "2026-11-25T08:00:00+01:00"}, // Wednesday
		{"2026-11-27T23:00:00+01:00", 1e6, "2026-11-28T06:00:00+01:00"},  // Friday into Saturday
		{"2026-11-28T05:59:00+01:00", 1e6, "2026-11-28T06:00:00+01:00"},
		{"2026-11-29T01:00:00+01:00", 1e6, "2026-11-29T02:00:00+01:00"}, // Saturday into Sunday
		{"2026-11-29T02:10:00+01:00", 7e6, "2026-11-29T03:00:00+01:00"},
		{"2026-11-30T05:00:00+01:00", 50e6, "2026-11-30T07:00:00+01:00"}, // Sunday's do not cross midnight
		{"2026-10-25T02:30:00+02:00", 7e6, ""},
		{"2026-10-25T02:30:00+01:00", 7e6, ""},
		{"2026-03-29T01:59:00+01:00", 1e6, ""},
		{"2026-03-29T03:00:00+02:00", 1e6, "2026-03-29T06:00:00+02:00"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		l, all := p.InForce(at.In(berlin))
		if l.WANDown != c.want || l.LANUp != 3e6 {
			t.Errorf("%s: %v, want %v", c.at, l, c.want)
		}
		if until := all[0].Until.Format(time.RFC3339); c.till != "" && until != c.till {
			t.Errorf("%s: until %s, want %s", c.at, until, c.till)
		}
	}
}

// TestPolicyRun follows a schedule in virtual time, and changes at run time count more.
func TestPolicyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPolicy(Limits{}, Schedule{down(t, "", "00:01-00:02", 2e6)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []Limits
		var at []time.Time
		y, m, d := time.Now().Date()
		time.Sleep(time.Until(time.Date(y, m, d+1, 0, 0, 30, 0, time.Local)))
		began := time.Now()
		go p.Run(ctx, func(l Limits) { got, at = append(got, l), append(at, time.Now()) })
		time.Sleep(45 * time.Second)
		r := Rate(3e6)
		p.Change(Change{WANDown: &r}, false)
		time.Sleep(5 * time.Second)
		p.Change(Change{}, true)
		time.Sleep(time.Minute)
		synctest.Wait()
		var rates []Rate
		var when []int
		for i := range got {
			rates, when = append(rates, got[i].WANDown), append(when, int(at[i].Sub(began).Seconds()))
		}
		want, seconds := []Rate{0, 2e6, 3e6, 2e6, 0}, []int{0, 30, 45, 50, 90}
		for i := range want {
			if len(rates) != len(want) || rates[i] != want[i] || when[i] != seconds[i] {
				t.Fatalf("%v after %v s, want %v after %v", rates, when, want, seconds)
			}
		}
	})
}

// TestPolicyClockSetBack checks that local time determines what holds, whatever it said before.
func TestPolicyClockSetBack(t *testing.T) {
	p := NewPolicy(Limits{}, Schedule{down(t, "", "08:00-18:00", 2e6)})
	day := func(hour, minute int) time.Time { return time.Date(2026, 11, 23, hour, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		at   time.Time
		want Rate
	}{{day(7, 59), 0}, {day(8, 1), 2e6}, {day(7, 59), 0}, {day(8, 0), 2e6}, {day(18, 30), 0}, {day(17, 30), 2e6}} {
		if l, _ := p.InForce(c.at); l.WANDown != c.want {
			t.Errorf("%v: %v, want %v", c.at, l.WANDown, c.want)
		}
		if pause := p.pause(c.at); pause > checkEvery {
			t.Errorf("the clock is not looked at for %v", pause)
		}
	}
}
