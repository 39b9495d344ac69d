package mob

import "time"

// window sizes the node's part of a link to another cluster: how many bytes it keeps in flight
// there, and how many members of its cluster begin pieces over the link.
//
// All members of a cluster share the link and see the same queue before it. Each keeps the
// same small number of bytes in that queue, as in FAST TCP, however many peers are behind it:
// so the members' parts are even, and the queue is short. Rates alone would not do, since any
// split of a link, and any queue, confirms itself.
type window struct {
	size   float64 // bytes to keep in flight
	out    int     // bytes in flight
	active float64 // members that may begin pieces over the link, as this one sees it

	limits windowLimits
	short  int  // times in a row that the queue was found short
	steady bool // a queue was seen: size does not double any more
	filled bool // the queue was never short in a whole round: size has been large enough
	round  windowRound
}

// windowRound is what was seen while as many bytes arrived as are in flight, which takes about a
// round trip.
type windowRound struct {
	left     float64       // bytes to arrive until its end
	blocks   int           // that arrived
	queues   time.Duration // the sum of what they saw
	shortest time.Duration // of these
}

// windowLimits are what a window is kept to.
type windowLimits struct {
	queue    time.Duration // how long a byte may wait in the queue
	minBlock int           // the least request, in bytes
	max      int           // bounds the bytes in flight
}

// aim is how long the queue is that windows aim at, beside what fairness takes.
func (l windowLimits) aim() time.Duration { return l.queue / 5 }

const (
	// gain is the part of an error that a window corrects in a round trip. More follows a
	// changing link faster, and swings more.
	gain = 0.2
	// clusterQueue is how many bytes a whole cluster keeps in a link's queue, in blocks of the
	// least size, beside what a fifth of the queue limit takes at the rate. On slow links a member
	// keeps no more there than passes in three halves of the queue limit: routers drop what waits longer,
	// and TCP sends again what it takes for lost. With a shorter time the members would send nothing
	// beside a flow that keeps the router's queue full.
	clusterQueue = 14
	// memberQueue is the most of them for one member: alone on a slow link it would have pieces
	// on their way there for a second.
	memberQueue = 8
	// shortTimes is how many times in a row a queue must be found short before more members
	// become active. Every queue is short at some moment, and a member that becomes active on a
	// slow link has pieces on their way there for seconds.
	shortTimes = 3
)

// newWindow is that of a link of which nothing is known. All members begin at once, so more would fill
// the queue of a slow link for a second.
func newWindow(l windowLimits) window {
	return window{size: float64(2 * l.minBlock), active: 1, limits: l}
}

// adjustActive counts the active members by the queue before the link. Pieces are passed on
// whole. If too many members begin pieces at one link, each takes long for its piece, and what
// others wait for is all half done. The number grows when the queue was short for some time
// while the node knows of a piece to request, which needed reports, and falls when the queue is
// long, but not below least. So few members are active where the link is the limit, and all
// where their interfaces are.
func (w *window) adjustActive(queue time.Duration, least float64, needed func() bool) {
	w.short++
	if queue >= w.limits.queue/4 {
		w.short = 0
	}
	switch {
	case queue > w.limits.queue*2/3:
		w.active = max(w.active-max(w.active/8, 0.5), least)
	case w.short >= shortTimes && needed():
		w.active += max(1, w.active/2)
	}
}

// windowSample is what the arrival of a block says of a link.
type windowSample struct {
	bytes   int           // that arrived
	held    int           // in flight before
	block   int           // size of the next request
	active  int           // members that share the link
	latency time.Duration // from the request to the block
	trip    time.Duration // the shortest round trip
	queue   time.Duration // how long a byte waits now
}

// arrived corrects the size.
func (w *window) arrived(m windowSample) {
	block := float64(w.limits.minBlock)
	full := float64(m.held+m.block) > w.size
	part := min(float64(m.bytes)/w.size, 1)
	rate := min(float64(m.held), w.size) / max(m.latency.Seconds(), 1e-6)
	least := w.limits.aim()
	own := block * min(max(clusterQueue/float64(m.active), 0.25), memberQueue)
	own = min(own, max(block/4, rate*w.limits.queue.Seconds()*3/2)) + rate*least.Seconds()
	switch change := own - rate*m.queue.Seconds(); {
	case !w.steady && m.queue < least:
		if full {
			w.size += float64(m.bytes) // doubles in a round trip
		}
	case change < 0 || full:
		w.steady = true
		w.size += gain * change * part
	}
	w.size = min(max(w.size, block), float64(w.limits.max))
	w.count(m, least)
}

// count counts a block in its round. At the end of one in which queues were short, as a rule, size
// doubles again, unless it has been large enough. The first blocks are late for another reason: sockets
// are being opened, and the congestion windows of their senders grow. That matters where round trips are
// longer than the queue that is aimed at; over a shorter way size is found soon anyway.
func (w *window) count(m windowSample, least time.Duration) {
	if m.trip < least {
		return
	}
	r := &w.round
	if r.blocks == 0 {
		r.left, r.shortest = w.size, m.queue
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
	*r = windowRound{}
}
