// Package agent is the part of a cast that runs on each host.
//
// The caster starts an agent by a remote shell and talks to it on its standard input and output:
//
//	caster                                   agent
//	  | <----------------------- hello (launch) |
//	  | -- Start: key, certificate, content --> |  starts a node
//	  | <--------------------- Ready: addresses |  the caster dials them
//	  | <----------- Progress, once per second  |  it fetches, and serves its neighbors
//	  | -- Record, Release: of a stream ------> |
//	  | <----------------------- Done or Failed |  it still serves
//	  | -- End -------------------------------> |  it removes its files, and exits
//
// In a gather the agent seeds a path of its host, and sends Served instead of Done; the caster fetches from it until End.
//
// Content of some kilobytes is in the Start message. Then the agent starts no node: it verifies the bytes and writes them.
//
// In a tree the agent also runs the remote shell for other hosts (launch.Relay). If its own login is lost with the host that it came
// through, it waits for another one; then it reports its state again, and ignores what it has received before.
//
// A [Message] is a line of JSON, a [Report] a record (RFC 7464). Only the Start message contains secrets.
package agent
