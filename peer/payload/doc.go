// Package payload turns blocks that members of a swarm send each other into verified
// pieces, and stored pieces into blocks.
//
// A [Codec] does that for one kind of transfer: [NewPlain] for plain pieces, package
// payload/coded for coded blocks. They share [Buffer]s, the [Workers] that verify, the [Queue]
// of requests to serve, and the set of [Pending] requests.
//
// The package knows no connections, and does not decide which blocks are requested.
package payload
