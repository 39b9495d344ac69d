// Package sim runs the strategies of many nodes in virtual time. It has no clock, socket or
// goroutine; one seed gives one history, to the byte.
//
// # Networks
//
// [Run] is a discrete-event simulator of a network at the level of flows. A block passes,
// store and forward, the sender's NIC, the WAN link between the two sites if they differ,
// a one-way delay, and the receiver's NIC. Nodes of a rack have its uplink to the switch
// of the site between themselves and all other nodes. Each is a first-in first-out server with
// a rate; the rate of a WAN link may change at given times. A control message passes the
// WAN link in the same queue, behind the queued blocks, and the delay, and waits at the NIC of its receiver if
// that is one of SlowNIC. So queues that are too long cost what they cost in reality: announcements,
// requests and the end of the transfer are late.
//
// The model leaves out slow start, losses, packets and the CPU. It shows how good the
// decisions are, not how fast the program is.
//
// The simulator does what package mob asks of the caller: it answers requests in order,
// assembles and verifies pieces, opens connections, and plays a tracker.
//
// # Rounds
//
// [RunRounds] is the model in which permutation gossip is analysed (Cooper): one cluster in
// lockstep, without a network.
package sim
