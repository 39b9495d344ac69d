package limit

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

// checkEvery bounds the time until a change of the clock is noticed.
const checkEvery = 5 * time.Second

// A Policy determines the limits in force from a configuration, its schedule, and changes at run
// time, with increasing precedence. It is safe for concurrent use.
type Policy struct {
	changed chan struct{} // holds a token if the limits may have changed

	mu       sync.Mutex
	base     Limits
	schedule Schedule
	command  Change
}

// NewPolicy returns the policy of a configuration.
func NewPolicy(base Limits, s Schedule) *Policy {
	return &Policy{changed: make(chan struct{}, 1), base: base, schedule: s}
}

// Configure replaces the configuration, and reports whether it changed. Changes at run time stay.
func (p *Policy) Configure(base Limits, s Schedule) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = base != p.base || !slices.EqualFunc(s, p.schedule, func(a, b Entry) bool { return reflect.DeepEqual(a, b) })
	p.base, p.schedule = base, s
	p.wake()
	return changed
}

// Change changes limits at run time, after forgetting earlier such changes if reset is set.
func (p *Policy) Change(c Change, reset bool) {
	p.mu.Lock()
	if reset {
		p.command = Change{}
	}
	p.command = p.command.Then(c)
	p.mu.Unlock()
	p.wake()
}

func (p *Policy) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Setting is a limit that is in force.
type Setting struct {
	Name string `json:"name"` // one of [Names]
	Rate Rate   `json:"rate"`
	// By is the source: "configuration", "schedule" or "command".
	By string `json:"by"`
	// Entry contains the days and hours of a schedule's entry. Until is the time of the next change.
	Entry string    `json:"entry,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// InForce returns the limits that are in force at a time, and what set each of them.
func (p *Policy) InForce(now time.Time) (Limits, []Setting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, by := p.inForce(now)
	var all []Setting
	for k, r := range l.rates() {
		s := Setting{Name: Names[k], Rate: *r, By: "configuration"}
		switch e := by[k]; {
		case *p.command.rates()[k] != nil:
			s.By = "command"
		case e != nil:
			s.By, s.Entry, s.Until = "schedule", e.String(), p.schedule.until(k, now)
		default:
			s.Until = p.schedule.until(k, now)
		}
		all = append(all, s)
	}
	return l, all
}

// inForce returns the limits in force, and the entry of the schedule for each rate, or nil. The caller holds the lock.
func (p *Policy) inForce(now time.Time) (Limits, [len(Names)]*Entry) {
	scheduled, by := p.schedule.at(now)
	return p.command.Apply(scheduled.Apply(p.base)), by
}

// Run calls apply with the limits in force whenever they change, until ctx ends. It uses local
// time, also after the clock is set and when daylight saving starts or ends.
func (p *Policy) Run(ctx context.Context, apply func(Limits)) {
	var last Limits
	for first := true; ; first = false {
		p.mu.Lock()
		l, _ := p.inForce(time.Now())
		p.mu.Unlock()
		if first || l != last {
			last = l
			apply(l)
		}
		select {
		case <-p.changed:
		case <-time.After(p.pause(time.Now())):
		case <-ctx.Done():
			return
		}
	}
}

// pause returns the time to the next possible change: until the next minute of a schedule, or checkEvery.
func (p *Policy) pause(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.schedule) == 0 {
		return time.Hour
	}
	return min(checkEvery, now.Truncate(time.Minute).Add(time.Minute).Sub(now)+time.Millisecond)
}
