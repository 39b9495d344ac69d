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
// The nodes of a cluster are a mob. Sorted by id, each has a rank, and with it a
// share of the pieces, which it begins before others, and global peers: the
// members of other clusters whose shares overlap its own (package mob/ranks). A member
// claims what it asks for over the WAN, and nobody else of its cluster asks for
// that, so a piece enters a cluster once. Beyond the paper:
//
//   - A share is a preference. A member with room on a link begins any piece
//     that is free, so none stands idle while another has work left (Robber goes
//     by asking). At a new piece members take turns.
//   - A member takes the piece that the fewest other clusters hold or have
//     claimed, so that two clusters do not fetch the same piece from the source
//     but one each, and swap.
//   - What is in flight belongs to the link to another cluster, not to a peer:
//     each member keeps the same few bytes in its queue, and only a crew of as
//     many as it takes to fill it begins pieces there.
//   - A member that finds everything claimed steals what a local peer is slow
//     at. That one gives it away, so that nobody guesses.
//   - A member that is far behind its cluster leaves the WAN to it.
//   - Shares follow the members that are there. A peer without progress loses
//     its blocks to others; the last blocks may be asked for twice.
//   - Each node bans a peer that sent it false pieces.
//
// # The contract with the caller
//
// The caller steps a State from one goroutine. It carries out the actions in
// their order. It reports [Stored] only after the piece is verified and on disk,
// since the State announces it at once. Payload never enters the State. The
// caller answers requests for stored pieces by itself: every request is honoured.
// It calls Step with a [Tick] at least as often as [State.Wake] asks for.
package mob
