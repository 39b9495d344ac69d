package mob

import "time"

// link is the way to another cluster. All members of a mob share it and see the
// same queue there. Each keeps the same small number of its bytes in that queue
// (as in FAST TCP), whatever the number of peers behind the link, which makes
// the members' parts of it even and the queue short. Rates alone would not do:
// any split of a link, and any queue, confirms itself.
type link struct {
	size   float64 // bytes to have in flight
	out    int     // bytes in flight
	crew   float64 // members that may begin pieces over it, as this one sees it
	short  int     // times in a row that its queue was found short
	steady bool    // a queue was seen: size has been large enough
	peers  []*peer // that joined, sorted by id
}

const (
	// linkGain is how much of what is wrong a link's size makes up in a round
	// trip. More follows a changing link faster, and swings more.
	linkGain = 0.2
	// linkQueue is how many bytes a whole mob keeps in a link's queue, as blocks
	// of the least size, beside what a fifth of Queue takes at the rate.
	linkQueue = 14
	// ownQueue is the most of them for one member: alone on a slow link it would
	// have pieces under way there for a second.
	ownQueue = 8
)

// atOnce is about how many pieces a mob has on their way over the WAN where the
// links are the limit: few, since only whole ones are passed on. With few links
// several members work on each, whose windows together follow it better.
const atOnce = 12

// leastCrew is how many members of a mob begin pieces over a link in any case.
func (s *State) leastCrew() float64 { return float64(max(1, atOnce/max(1, len(s.others)))) }

// shortTimes is how many times in a row a queue must be found short before more members
// come. Every queue is short at some moment, and who comes to a slow link has pieces under
// way there for seconds.
const shortTimes = 3

// newLink is a link of which nothing is known.
func newLink(t *Tuning) *link {
	return &link{size: float64(4 * t.MinBlock), crew: 1}
}

// linkTo is the way to a cluster.
func (s *State) linkTo(cluster string) *link {
	l := s.links[cluster]
	if l == nil {
		l = newLink(s.t)
		s.links[cluster] = l
	}
	return l
}

// watch steers the crew. Pieces are passed on whole, so too many members at one
// link would each take long for one, and what others wait for is all half done.
// A member joins the crew when the queue was short for some time while it knows of a
// piece to ask for, and leaves it when the queue is long. So few work where the link is
// the limit, and all where their interfaces are.
func (l *link) watch(t *Tuning, queue time.Duration, least float64, needed func() bool) {
	if l.short++; queue >= t.Queue/4 {
		l.short = 0
	}
	switch {
	case queue > t.Queue*2/3:
		l.crew = max(l.crew-max(l.crew/8, 0.5), least)
	case l.short >= shortTimes && needed():
		l.crew += max(1, l.crew/2)
	}
}

// sample is what the arrival of a block says of a link.
type sample struct {
	bytes   int           // that came
	held    int           // that were in flight before
	block   int           // that would be asked for next
	mates   int           // members that share the link
	latency time.Duration // from the request to the block
	queue   time.Duration // how long a byte waits on the link now
}

// arrived corrects the size.
func (l *link) arrived(t *Tuning, m sample) {
	full := float64(m.held+m.block) > l.size
	part := min(float64(m.bytes)/l.size, 1)
	rate := min(float64(m.held), l.size) / max(m.latency.Seconds(), 1e-6)
	least := t.Queue / 5
	own := float64(t.MinBlock)*min(max(linkQueue/float64(m.mates), 0.25), ownQueue) + rate*least.Seconds()
	switch change := own - rate*m.queue.Seconds(); {
	case !l.steady && m.queue < least:
		if full {
			l.size += float64(m.bytes) // doubles in a round trip
		}
	case change < 0 || full:
		l.steady = true
		l.size += linkGain * change * part
	}
	l.size = min(max(l.size, float64(t.MinBlock)), float64(t.MaxWindow))
}
