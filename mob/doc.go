// Package mob is the swarm's mind: the decisions of one node about one content.
//
// A [State] holds no goroutine, socket, file, clock, lock or log. Events go in
// through [State.Step] together with the time, actions come out, and randomness
// comes from a seed: one history of events gives one history of actions. The
// same code runs in the daemon and in a simulator of thousands of nodes.
//
// # The algorithm
//
// It is MOB's (den Burger and Kielmann, HPDC'07), with its weak places mended.
// The nodes of a cluster are a mob. Sorted by id, each has a rank, and owns the
// pieces of its [Share]: only it fetches them over the WAN, from the members of
// other clusters whose shares overlap its own ([Matches]); everything else it
// takes from its own cluster. So a piece enters a cluster once. Beyond the paper:
//
//   - An owner takes the piece that the fewest other clusters hold or have
//     claimed, so that two clusters do not fetch the same piece from the source
//     but one each, and swap.
//   - What is in flight belongs to the link to another cluster, not to a peer:
//     each member keeps the same few bytes in its queue, and only as many begin
//     pieces there as it takes to fill it.
//   - A member with nothing left to ask for, or nothing rare, steals unclaimed
//     pieces from the local peer with the most left (Robber): the owner gives
//     them away, so that nobody guesses. So goes what its owner is slow at.
//   - Shares follow the members that are there. A peer without progress loses
//     its blocks to others; the last blocks may be asked for twice.
//
// # The contract with the caller
//
// The caller steps a State from one goroutine. It carries out the actions in
// their order. It reports [Stored] only after the piece is verified and on disk,
// since the State announces it at once. Payload never enters the State. The
// caller answers requests for stored pieces by itself: every request is
// honoured, so there is nothing to decide. It calls Step with a [Tick] at least
// as often as [State.Wake] asks for.
package mob
