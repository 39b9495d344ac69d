// Package agent is the part of a cast that runs on each of its hosts.
//
// The caster starts an agent by a remote shell and talks to it on its standard input and output:
//
//	caster                                   agent
//	  | <------------------------- hello (launch) |
//	  | -- Start: key, certificate, what to do -> |  starts a node
//	  | <---------------------- Ready: addresses |  the caster dials them
//	  | <------------- Progress, once per second |  it fetches, and serves its neighbours
//	  | -- Record, Release: of a stream --------> |
//	  | <---------------------- Done, or Failed |  it serves on
//	  | -- End ---------------------------------> |  it removes what is its own, and exits
//
// A content of some kilobytes is in the Start message itself. Then there is no node: the agent checks the bytes, writes them,
// and is done.
//
// An [Message] is a line of JSON, a [Report] a record (RFC 7464). Secrets are in the Start message only.
package agent
