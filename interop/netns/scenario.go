package netns

import (
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// Forever is a time that does not come.
const Forever = plan.Never

// Scenario is the rates of links over time. Rates change in steps; links are neither added nor
// removed.
type Scenario interface {
	// Rates returns the links at time t from the start, with positive rates, and the time of the
	// next change: later than t, or Forever. It is a pure function that may be called from any
	// goroutine.
	Rates(t time.Duration) (Links, time.Duration)
}

// Steady is a scenario without changes.
func Steady(l Links) Scenario { return steady{l} }

type steady struct{ links Links }

func (s steady) Rates(time.Duration) (Links, time.Duration) { return s.links, Forever }

// Switch is a scenario with one change, at the given time.
func Switch(before, after Links, at time.Duration) Scenario {
	return switched{before, after, at}
}

type switched struct {
	before, after Links
	at            time.Duration
}

func (s switched) Rates(t time.Duration) (Links, time.Duration) {
	if t < s.at {
		return s.before, s.at
	}
	return s.after, Forever
}

// SwitchAtThird is the Switch at a third of its ideal time, for size bytes from the source's
// cluster.
func SwitchAtThird(before, after Links, source string, size int64) Scenario {
	// A change that is later by d makes the ideal time longer by less than d, or shorter. So three
	// times the time of the change exceeds the ideal time from one point on.
	early, late := time.Duration(0), max(
		IdealTime(Steady(before), source, size),
		IdealTime(Steady(after), source, size))
	for late-early > time.Microsecond {
		at := early + (late-early)/2
		if at < IdealTime(Switch(before, after, at), source, size)/3 {
			early = at
		} else {
			late = at
		}
	}
	return Switch(before, after, late)
}
