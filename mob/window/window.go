// Package window sizes the way to another cluster: how many bytes one member of a mob has
// in flight on it, and how many of the mob begin pieces there.
//
// All members of a mob share the way and see the same queue there. Each keeps the same
// small number of its bytes in that queue (as in FAST TCP), whatever the number of peers
// behind it, which makes the members' parts of it even and the queue short. Rates alone
// would not do: any split of a link, and any queue, confirms itself.
package window

import "time"

// Limits are what a window is kept to.
type Limits struct {
	// Queue is how long a byte may wait on the way.
	Queue time.Duration
	// MinBlock is the least block that is asked for, in bytes.
	MinBlock int
	// Max bounds the bytes in flight.
	Max int
}

// Window is one member's part of the way to a cluster. Not safe for concurrent use.
type Window struct {
	Size float64 // bytes to have in flight
	Out  int     // bytes in flight
	Crew float64 // members that may begin pieces over it, as this one sees it

	limits Limits
	short  int  // times in a row that its queue was found short
	steady bool // a queue was seen: Size has been large enough
}

const (
	// gain is how much of what is wrong a window makes up in a round trip. More
	// follows a changing link faster, and swings more.
	gain = 0.2
	// mobQueue is how many bytes a whole mob keeps in a link's queue, as blocks
	// of the least size, beside what a fifth of Queue takes at the rate.
	mobQueue = 14
	// ownQueue is the most of them for one member: alone on a slow link it would
	// have pieces under way there for a second.
	ownQueue = 8
	// shortTimes is how many times in a row a queue must be found short before more
	// members come. Every queue is short at some moment, and who comes to a slow link
	// has pieces under way there for seconds.
	shortTimes = 3
)

// New is the window of a way of which nothing is known.
func New(l Limits) Window { return Window{Size: float64(4 * l.MinBlock), Crew: 1, limits: l} }

// Watch steers the crew by the queue that a byte meets. Pieces are passed on whole, so too
// many members at one link would each take long for one, and what others wait for is all
// half done. A member joins the crew when the queue was short for some time while it knows
// of a piece to ask for, which needed tells, and leaves it when the queue is long. So few
// work where the link is the limit, and all where their interfaces are. The crew is never
// less than least.
func (w *Window) Watch(queue time.Duration, least float64, needed func() bool) {
	if w.short++; queue >= w.limits.Queue/4 {
		w.short = 0
	}
	switch {
	case queue > w.limits.Queue*2/3:
		w.Crew = max(w.Crew-max(w.Crew/8, 0.5), least)
	case w.short >= shortTimes && needed():
		w.Crew += max(1, w.Crew/2)
	}
}

// Sample is what the arrival of a block says of a way.
type Sample struct {
	Bytes   int           // that came
	Held    int           // that were in flight before
	Block   int           // that would be asked for next
	Mates   int           // members that share the way
	Latency time.Duration // from the request to the block
	Queue   time.Duration // how long a byte waits on the way now
}

// Arrived corrects the size.
func (w *Window) Arrived(m Sample) {
	block := float64(w.limits.MinBlock)
	full := float64(m.Held+m.Block) > w.Size
	part := min(float64(m.Bytes)/w.Size, 1)
	rate := min(float64(m.Held), w.Size) / max(m.Latency.Seconds(), 1e-6)
	least := w.limits.Queue / 5
	own := block*min(max(mobQueue/float64(m.Mates), 0.25), ownQueue) + rate*least.Seconds()
	switch change := own - rate*m.Queue.Seconds(); {
	case !w.steady && m.Queue < least:
		if full {
			w.Size += float64(m.Bytes) // doubles in a round trip
		}
	case change < 0 || full:
		w.steady = true
		w.Size += gain * change * part
	}
	w.Size = min(max(w.Size, block), float64(w.limits.Max))
}
