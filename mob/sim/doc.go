// Package sim runs many nodes of package mob in virtual time: a discrete-event
// simulator with a flow-level model of the network. It has no clock, socket or
// goroutine; one seed gives one history, to the byte.
//
// # The model
//
// A block passes, store and forward, the sender's NIC, the WAN link between the
// two clusters where they differ, a one-way delay, and the receiver's NIC. Each
// is a first-in first-out server with a rate; the rate of a WAN link may change
// at given times. A control message passes the WAN link in the same queue, behind
// the blocks that are there, and the delay; NICs do not hold it up. So queues
// that are too long cost what they cost in reality: news, requests and the end
// of the transfer come late.
//
// What the model leaves out: slow start, losses, packets, the CPU. It says how
// good the decisions are, not how fast the program is.
//
// The simulator also plays the shell's part as package mob's contract has it:
// answers to requests in the order of their arrival, pieces put together and
// checked, connections, members that a tracker tells of.
package sim
