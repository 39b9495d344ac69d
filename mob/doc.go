// Package mob decides what one node of a swarm does: the peers it connects to, the blocks it requests, the
// announcements it sends. [Strategy] is the interface between these decisions and the loop that does all input
// and output. [State] is the strategy of most swarms.
//
// A State has no goroutine, socket, file, clock, lock or log. Events and the time go in through [State.Step],
// actions come out, and randomness comes from a seed: one history of events gives one history of actions.
// The daemon and the simulator (mob/sim) run the same code.
//
// # The algorithm
//
// As in BitTorrent, peers announce their pieces, and a node requests blocks of missing pieces, rarest first. Nodes do
// not choke each other: all want the swarm to finish soon. In addition, a node knows which peers are in its own
// cluster. Bytes within a cluster cost nothing, so each piece should enter the cluster over the WAN once.
//
// The algorithm is MOB's (den Burger and Kielmann, HPDC'07). The nodes of a cluster that take part are its members.
// Sorted by ID, each has a rank. By its rank it has a share of the pieces, which it starts first, and matched
// peers: the members of other clusters whose shares overlap its own (package mob/ranks). A member that requests
// a piece over the WAN claims it, which it announces to its cluster. No other member requests a claimed piece over
// the WAN: it gets the piece over the LAN. Beyond the paper:
//
//   - Clusters may be in larger ones, as racks in a site: the name of a cluster is a path. Each piece enters each
//     of these groups once, by the same rules (session.Level). Where a rack has the only complete copy, other racks
//     relieve its holder (package mob/session).
//   - A share is a preference. A member with room on a link starts any piece that is free, so a link is not idle
//     while there is work. At a new piece members take turns, for the time of a claim (package mob/session).
//   - A member picks the piece that the fewest other clusters have or claim. So two clusters get different pieces
//     from the source, and swap (pieces.go).
//   - The bytes in flight are bounded for a link to another cluster, not for a peer. Each member keeps the same few
//     bytes in the link's queue. Only active members start pieces there, enough to fill it (package mob/flow,
//     session.Link).
//   - A member that finds everything claimed steals pieces that a local peer is slow at. That peer gives them away
//     (steal.go).
//   - A member that is far behind its cluster leaves the WAN to it (health.go).
//   - Claims expire. A member that misses the time of its answers and of its cluster's claims is ignored until it
//     delivers (package mob/conduct).
//   - Shares follow the members that are joined (package mob/roster). The requests to a stalled peer go to other
//     peers, and the last blocks may be requested twice (endgame.go).
//   - A node bans a peer that sent it too many bad pieces.
//
// # The parts
//
// Each part has a record of a peer and does not know the State: mob/roster has the members, mob/avail the pieces that they
// have and claim, mob/flow the bytes in flight, mob/conduct their faults, mob/assign the shares and plans, mob/timer the
// times. mob/session puts these together for the joined peers, and answers questions about them. A State makes the
// decisions and sends the messages. It asks a [Picker] for the next piece of a peer: for plain pieces, for the parts
// of a stream, or for coded blocks (package mob/coded).
//
// # The contract with the caller
//
// The caller steps a State from one goroutine, and carries out the actions in order. It reports
// [Stored] only after the piece is verified and on disk, since the State announces it immediately.
// Payload never enters the State. The caller answers requests for stored pieces by itself, in the
// order of their arrival. It steps with a [Tick] at least as often as [State.Wake] asks for.
package mob
