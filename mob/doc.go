// Package mob decides for one node in one swarm: which peers to connect to, what to request of
// whom, what to announce. [Strategy] is the seam between these decisions and the loop that does
// all input and output. [State] is the strategy that most swarms use.
//
// A State has no goroutine, socket, file, clock, lock or log. Events and the time go in through
// [State.Step], actions come out, and randomness comes from a seed: one history of events gives
// one history of actions. The same code runs in the daemon and in the simulator (mob/sim).
//
// # The algorithm
//
// As in BitTorrent, peers announce the pieces that they have, and a node requests blocks of pieces
// that it lacks, rarest first. Nodes do not choke each other: all of them want the whole swarm to
// finish soon. What is new is that a node knows which peers are in its own cluster. Bytes within
// a cluster cost nothing, so each piece should enter the cluster over the WAN once.
//
// The algorithm is MOB's (den Burger and Kielmann, HPDC'07). The nodes of a cluster that take part
// are its members. Sorted by id, each has a rank. By its rank it has a share of the pieces, which it
// begins before others, and matched peers: the members of other clusters whose shares overlap its
// own (package mob/ranks). A member that requests a piece over the WAN claims it, which it
// announces to its cluster. No other member requests a claimed piece over the WAN: it waits, and
// gets the piece over the LAN. Beyond the paper:
//
//   - Clusters may be in larger ones, as racks in a site: the name of a cluster is a path. Each piece
//     enters each of these groups once, by the same rules at each level (level.go). Where a rack has
//     the only copy of all, other racks relieve its holder (seeds.go).
//   - A share is a preference. A member with room on a link begins any piece that is free, so no
//     link is idle while there is work. At a new piece members take turns, for as long as a claim
//     takes to arrive (turn.go).
//   - A member picks the piece that the fewest other clusters have or have claimed. So two
//     clusters do not get the same piece from the source, but one each, and swap (pieces.go).
//   - The bytes in flight are bounded for a link to another cluster, not for a peer. Each member
//     keeps the same few bytes in the link's queue, and only as many members begin pieces there as
//     it takes to fill it: the active ones (package mob/flow, link.go).
//   - A member that finds everything claimed steals what a local peer is slow at. That peer gives
//     the piece away, so nobody guesses (steal.go).
//   - A member that is far behind its cluster leaves the WAN to it (health.go).
//   - What a member claims or has is a promise. If it does not deliver in the time that its answers
//     and the cluster's pieces are seen to take, it does not count until it does, and other members
//     take over (package mob/conduct).
//   - Shares follow the members that are joined (package mob/roster). A stalled peer loses its requests to
//     others, and the last blocks may be requested twice (endgame.go).
//   - A node bans a peer that sent it too many bad pieces.
//
// A State asks a [Picker] which piece to request of a peer. There are pickers for plain pieces, for
// the pieces of a stream, and for coded transfers (package mob/coded), where a piece is a coded block. Package mob/assign divides the pieces of plain transfers among
// the members of a group, by shares or by a plan.
//
// # The contract with the caller
//
// The caller steps a State from one goroutine, and carries out the actions in order. It reports
// [Stored] only after the piece is verified and on disk, since the State announces it at once.
// Payload never enters the State. The caller answers requests for stored pieces by itself, in the
// order of their arrival. It steps with a [Tick] at least as often as [State.Wake] asks for.
package mob
