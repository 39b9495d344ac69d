// Package roster keeps the members of a swarm that a node knows, and decides which of them it dials.
//
// A [Roster] has a [Group] for each part of the name of the node's cluster: its site, a part of the site
// such as a rack, and so on. A group has its own members and the members of its siblings, the groups
// beside it. By its rank among the members that are alive a node matches members of each sibling. It dials
// the members of its site and the ones that match.
//
// Members that only peers named are candidates: at most 8 are dialed at a time, and they are not counted or
// advertised until they join, since a peer may invent thousands.
//
// A node that was cut off, as when its cable was unplugged, knows little of its cluster when it is back: the
// other members have continued. Its connections recover in any order. So it waits until each member has
// answered, or cannot be reached, before it requests of other clusters.
//
// The methods collect what follows for the sessions in [Roster.Changes]. A Roster does no input or output, and is
// not safe for concurrent use.
package roster
