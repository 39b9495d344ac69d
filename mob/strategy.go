package mob

import "time"

// Strategy makes the decisions of one node in one swarm: the peers to connect to, the blocks to
// request or send, the announcements. A swarm's loop does all input and output for it. [State] is the
// receiver-driven strategy; package mob/permutation has another. A Strategy only computes: it gets the
// time as an argument and randomness from a seed, and one history of events gives one history of
// actions. It is not safe for concurrent use.
type Strategy interface {
	// Step handles an event and returns the actions that follow, in order. The slice is valid until the
	// next call. Times never decrease.
	Step(now time.Time, ev Event) []Action
	// Wake returns the time until the caller is to step with a [Tick]. It changes with every Step.
	Wake() time.Duration
	// Status takes a snapshot.
	Status() Status
}
