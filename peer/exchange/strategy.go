package exchange

import (
	"time"

	"github.com/mobgrid/mob/mob"
)

// Strategy is the mind of one node in one swarm, by whichever way the content is spread:
// a [mob.State], or another that tells and does the same. It computes only, and is not
// safe for concurrent use.
type Strategy interface {
	// Step takes in an event and returns what to do about it, in order. The slice is
	// valid until the next call.
	Step(now time.Time, ev mob.Event) []mob.Action
	// Wake is after how long the next [mob.Tick] is due.
	Wake() time.Duration
	// Status takes a snapshot.
	Status() mob.Status
}
