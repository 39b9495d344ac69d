package mob

import "time"

// Strategy decides for one node in one swarm: whom to connect to, what to ask for or
// send, what to announce. It is the seam between a swarm's loop, which does all input and
// output, and the ways of spreading a content: the receiver-driven [State], which may follow a
// plan, and permutation gossip (package mob/permutation). The loop, the wire, the store
// and the simulator are the same for all of them.
//
// A Strategy only computes: time comes in as an argument, randomness from a seed, and one
// history of events gives one history of actions. It is not safe for concurrent use.
type Strategy interface {
	// Step takes in an event and returns what to do about it, in order. The slice is
	// valid until the next call. Times never go back.
	Step(now time.Time, ev Event) []Action
	// Wake is how long the caller may wait before it steps with a [Tick]. It changes with
	// every Step.
	Wake() time.Duration
	// Status takes a snapshot.
	Status() Status
}
