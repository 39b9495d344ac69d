// Package tracker introduces the members of a swarm to each other. It is a
// libp2p service with one stream per request:
//
//	member                                   tracker
//	  | -- Announce(swarm, cluster, addrs) --> |  remembers the member
//	  | <-- Handout(interval, members) ------- |  its cluster, a sample of the others
//	  |                                        |
//	  | -- FleetRequest(swarm) --------------> |
//	  | <-- Fleet(per cluster: nodes, whole) - |  progress, for display
//
// or a Goodbye with a code and a text in place of the reply.
//
// [Server] is the tracker: a [Config]-bounded table in memory, in which a member
// that stops announcing expires. [Client] asks one tracker or several at once
// and lives with those that answer.
//
// A tracker holds no content, proves nothing about a member but its peer id,
// and is needed only to begin: members tell each other of members afterwards.
package tracker
