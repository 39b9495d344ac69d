package flow

import "time"

// Window sizes the node's part of a link to another cluster: the bytes that it keeps in flight there, and
// the number of members of its cluster that start pieces over the link.
//
// All members share the link and see the same queue before it. As in FAST TCP, each keeps the same small
// number of bytes in that queue, however many peers are behind it, so the members' parts are even. Rates
// alone would not do, since any split of a link, and any queue, confirms itself.
type Window struct {
	Size   float64 // bytes to keep in flight
	Active float64 // members that may start pieces over the link, as this one sees it
	out    int     // bytes in flight

	limits *Limits
	short  int  // times in a row that the queue was found short
	steady bool // a queue was seen: size does not double any more
	filled bool // the queue was never short in a whole round: size has been large enough
	round  round
}

// round sums up the blocks of about one round trip: those that arrive until a full window has arrived.
type round struct {
	left     float64       // bytes to arrive until its end
	blocks   int           // that arrived
	queues   time.Duration // the sum of what they saw
	shortest time.Duration // of these
}

const (
	// gain is the part of an error that a window corrects in a round trip. More follows a changing link
	// faster, and swings more.
	gain = 0.2
	// clusterQueue is the number of least blocks that a cluster keeps in a link's queue, in addition to a
	// fifth of the queue limit at the rate. On slow links a member keeps at most 3/2 of the queue limit at
	// the rate there: routers drop what waits longer, and TCP retransmits it. With less time, members would
	// send nothing beside a flow that keeps the router's queue full.
	clusterQueue = 14
	// memberQueue bounds the part of one member: alone on a slow link it would keep pieces in flight for a
	// second.
	memberQueue = 8
	// shortTimes is the number of consecutive short queues before more members become active. Every queue is
	// short at some moment, and a new member on a slow link keeps pieces in flight for seconds.
	shortTimes = 3
)

// NewWindow returns the first window of a link. All members start at the same time, so a larger one would
// fill the queue of a slow link for a second.
func NewWindow(l *Limits) Window {
	return Window{Size: float64(l.MinBlock), Active: 1, limits: l}
}

// AdjustActive changes the number of active members by the queue before the link. Only complete pieces are
// forwarded, so with too many active members each piece takes long. The number grows when the queue was
// short several times and needed reports a piece to request, and falls, to least, when the queue is long. Thus
// few members are active where the link is the limit, and all where their interfaces are.
func (w *Window) AdjustActive(queue time.Duration, least float64, needed func() bool) {
	w.short++
	if queue >= w.limits.Queue/4 {
		w.short = 0
	}
	switch {
	case queue > w.limits.Queue*2/3:
		w.Active = max(w.Active-max(w.Active/8, 0.5), least)
	case w.short >= shortTimes && needed():
		w.Active += max(1, w.Active/2)
	}
}

// sample describes the arrival of a block over a link.
type sample struct {
	bytes   int           // that arrived
	held    int           // in flight before
	block   int           // size of the next request
	active  int           // members that share the link
	latency time.Duration // from the request to the block
	trip    time.Duration // the shortest round trip
	queue   time.Duration // how long a byte waits now
}

// arrived corrects the size.
func (w *Window) arrived(m sample) {
	block := float64(w.limits.MinBlock)
	full := float64(m.held+m.block) > w.Size
	part := min(float64(m.bytes)/w.Size, 1)
	rate := min(float64(m.held), w.Size) / max(m.latency.Seconds(), 1e-6)
	least := w.limits.aim()
	own := block * min(max(clusterQueue/float64(m.active), 0.25), memberQueue)
	own = min(own, max(block/4, rate*w.limits.Queue.Seconds()*3/2)) + rate*least.Seconds()
	switch change := own - rate*m.queue.Seconds(); {
	case !w.steady && m.queue < least:
		if full {
			w.Size += float64(m.bytes) // doubles in a round trip
		}
	case change < 0 || full:
		w.steady = true
		w.Size += gain * change * part
	}
	w.Size = min(max(w.Size, block), float64(w.limits.MaxWindow))
	w.count(m, least)
}

// Out returns the bytes in flight over the link.
func (w *Window) Out() int { return w.out }

// count adds a block to its round. After a round of short queues the size doubles again, unless it was large
// enough before. The first blocks are late for another reason: sockets are opened, and the congestion windows
// of their senders grow. That matters where round trips are longer than the queue that is aimed at.
func (w *Window) count(m sample, least time.Duration) {
	if m.trip < least {
		return
	}
	r := &w.round
	if r.blocks == 0 {
		r.left, r.shortest = w.Size, m.queue
	}
	r.left -= float64(m.bytes)
	r.blocks++
	r.queues += m.queue
	r.shortest = min(r.shortest, m.queue)
	if r.left > 0 {
		return
	}
	w.filled = w.filled || r.shortest >= least
	if !w.filled && r.queues < least*time.Duration(r.blocks) {
		w.steady = false
	}
	*r = round{}
}
