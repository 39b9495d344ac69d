package cast

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	// slowPart is the factor between the rates of the median host and of one that is too slow.
	slowPart = 4
	// maxLook bounds the time that counts between two calls of find, and is the least time without a held source that is a break.
	// After a longer one this process was stopped.
	maxLook = time.Second
)

// stragglers selects hosts to give up, so that the cast does not wait for them. It reads no clock and changes no host.
type stragglers struct {
	cfg   *Config
	began time.Time // of the cast
	end   time.Time // of Deadline or Grace, zero without one
	why   string    // the error of hosts that are not done at end

	// The state of DropSlow. A period starts when the source is held after a break, or after DropSlow without that.
	looked time.Time     // the last call of find
	heldAt time.Time     // when the source was held last
	since  time.Time     // the start of the period
	held   time.Duration // the time in the period in which the source was held
	bytes  []int64       // Bytes of each host at the start of the period
	best   int64         // the most bytes that the median host received within DropSlow
}

// find returns the indexes of hosts to give up, and the reason. held reports whether the source waits for hosts, and read is the
// number of bytes read of it.
func (s *stragglers) find(now time.Time, hosts []HostResult, held bool, read int64) (some []int, why string) {
	var left []int
	var done []time.Duration
	for i := range hosts {
		if hosts[i].Phase == Done {
			done = append(done, hosts[i].Took)
		}
		if !hosts[i].settled() {
			left = append(left, i)
		}
	}
	slices.Sort(done)
	c := s.cfg
	if s.end.IsZero() && c.Deadline > 0 {
		s.end, s.why = s.began.Add(c.Deadline), fmt.Sprintf("deadline of %v", c.Deadline)
	}
	if c.Min > 0 && len(done) >= c.Min && c.Grace >= 0 {
		if end := s.began.Add(done[c.Min-1] + c.Grace); s.end.IsZero() || end.Before(s.end) {
			s.end, s.why = end, fmt.Sprintf("grace of %v", c.Grace)
		}
	}
	switch {
	case len(left) == 0:
	case !s.end.IsZero() && !now.Before(s.end):
		return left, s.why
	case c.DropSlow > 0:
		s.note(now, hosts, left, held)
		if s.held < c.DropSlow {
			break
		}
		slowest := slices.MinFunc(left, func(a, b int) int {
			return cmp.Or(cmp.Compare(hosts[a].Held, hosts[b].Held), cmp.Compare(hosts[a].Bytes, hosts[b].Bytes))
		})
		is := hosts[slowest]
		if len(left) > 1 && len(done)+len(left) > c.Min && (is.Bytes-s.bytes[slowest])*slowPart < s.best {
			some, why = []int{slowest}, fmt.Sprintf("too slow: %d MB behind for %g s", (read-is.Bytes)/1e6, c.DropSlow.Seconds())
		}
		s.start(now, hosts)
	}
	return some, why
}

// next returns the time until find is called again.
func (s *stragglers) next(now time.Time) time.Duration {
	if left := s.end.Sub(now); left > 0 {
		return min(left, lookEvery)
	}
	return lookEvery
}

// note updates the state of DropSlow. Without the source held, the source or its uplink limits the rates of hosts. While it
// is held all hosts have the rate of the slowest, so that one is compared with the median before.
func (s *stragglers) note(now time.Time, hosts []HostResult, left []int, held bool) {
	if s.bytes == nil {
		s.start(now, hosts)
	}
	var got []int64
	for _, i := range left {
		got = append(got, hosts[i].Bytes-s.bytes[i])
	}
	slices.Sort(got)
	if now.Sub(s.since) <= s.cfg.DropSlow {
		s.best = max(s.best, got[len(got)/2])
	}
	passed := min(now.Sub(s.looked), maxLook)
	free := now.Sub(s.heldAt) >= max(s.cfg.DropSlow/slowPart, maxLook)
	s.looked = now
	if free && (held || now.Sub(s.since) >= s.cfg.DropSlow) {
		s.start(now, hosts)
	} else if held {
		s.held += passed
	}
	if held {
		s.heldAt = now
	}
}

// start starts a period.
func (s *stragglers) start(now time.Time, hosts []HostResult) {
	s.since, s.held, s.bytes = now, 0, make([]int64, len(hosts))
	for i := range hosts {
		s.bytes[i] = hosts[i].Bytes
	}
}
