package bittorrent

import "time"

// reply is how long a client takes to answer a request while it has nothing else to
// send. Some look at their requests on a timer unless they are just sending: to
// Transmission 3.00 one that finds it idle waits for up to half a second. For the
// swarm that is a long way, to be covered by more requests, and not a queue, to be
// shortened by fewer, which would find it idle each time.
type reply struct {
	time  time.Duration // about the longest of late
	since time.Time     // when an idle client was asked, zero once it has answered
}

// maxReply bounds what is believed of a client's reply time.
const maxReply = time.Second

// asked notes that the client was idle and has been asked for something.
func (r *reply) asked(now time.Time) { r.since = now }

// came notes that something comes. A single reply may be short by chance, so a
// shorter time is believed by and by.
func (r *reply) came(now time.Time) {
	if r.since.IsZero() {
		return
	}
	r.time = max(min(now.Sub(r.since), maxReply), r.time-r.time/8)
	r.since = time.Time{}
}

// forget gives up what is being measured: not all that was asked for will come.
func (r *reply) forget() { r.since = time.Time{} }
