// Package tracker introduces the members of a swarm to each other. It is a
// libp2p service with one stream per request:
//
//	member                                   tracker
//	  | -- Announce(swarm, cluster, addrs) --> |  stores the member
//	  | <-- AnnounceReply(interval, members) ------- |  its cluster, a sample of the others
//	  |                                        |
//	  | -- ScrapeRequest(swarm) --------------> |
//	  | <-- Scrape(per cluster: nodes, whole) - |  progress, for display
//	  |                                        |
//	  | -- HostsRequest(swarm, name, wanted) > |  notes the name of the member's host
//	  | <-- Hosts(name, id, addrs) ----------- |  those of the wanted that it knows
//
// An error is a Goodbye with a code and a text in place of the reply.
//
// [Server] is the tracker: tables in memory, each with a bound in [Config], from
// which a member expires when it stops announcing. [Client] sends each request to
// all of its trackers and merges the replies.
//
// A tracker holds no content, verifies nothing about a member but its peer id, and
// is needed only to join: afterwards members exchange the addresses of others.
package tracker
