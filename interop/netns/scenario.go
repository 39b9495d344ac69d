package netns

import (
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// Forever stands for a time that does not come.
const Forever = plan.Never

// Scenario says how fast each link is at each moment of a run. Rates change in steps; links neither appear nor go.
type Scenario interface {
	// Rates returns the links at time t after the start, all of them above zero, and the moment from which they are
	// different: later than t, or Forever. It is a pure function and may be called from any goroutine.
	Rates(t time.Duration) (Links, time.Duration)
}

// Steady is the scenario in which nothing changes.
func Steady(l Links) Scenario { return steady{l} }

type steady struct{ links Links }

func (s steady) Rates(time.Duration) (Links, time.Duration) { return s.links, Forever }

// Switch is the scenario that begins with one set of links and goes over to another at the given moment.
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

// SwitchAtThird is the Switch whose moment is a third of its own ideal time for size bytes from the source's cluster.
func SwitchAtThird(before, after Links, source string, size int64) Scenario {
	// Switching later by d makes the ideal time longer by less than d, or shorter. So three times the moment overtakes the
	// ideal time exactly once.
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
