// Package tracker introduces the members of a swarm to each other. It is a
// libp2p service with one stream per request:
//
//	member                                   tracker
//	  | -- Announce(swarm, cluster, addrs) --> |  stores the member
//	  | <-- AnnounceReply(interval, members) ------- |  its cluster, a sample of other clusters
//	  |                                        |
//	  | -- ScrapeRequest(swarm) --------------> |
//	  | <-- Scrape(per cluster: nodes, whole) - |  progress, for display
//	  |                                        |
//	  | -- HostsRequest(swarm, name, wanted) > |  stores the name of the member's host
//	  | <-- Hosts(name, id, addrs) ----------- |  the wanted hosts that it knows
//
// An error is a Goodbye with a code and a text instead of the reply.
//
// [Server] is the tracker: tables in memory, each with a bound in [Config]. A member
// expires when it stops announcing. [Client] sends each request to all of its trackers
// and merges the replies. [Clients] is the same table for another front end.
//
// A tracker does not store content. It verifies only the peer ids of members. It is needed
// only to join: afterwards members exchange addresses (peer exchange).
package tracker
