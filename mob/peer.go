package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// peer is a node with an open control stream, as this node knows it.
type peer struct {
	Node
	local   bool
	request int // bytes of every request, 0 if they are of any size

	news
	theft

	// What we asked of it.
	current   *fetch // the piece that it is asked for next, unless that went to another
	requests  []request
	inFlight  int
	meter     meter
	stalled   bool
	silent    bool      // silent for so long that others do its part of the work
	lastBlock time.Time // when it last sent a block, or first owed one
	rejected  time.Time // when it last refused a request

	// How many it refused so far in a row, and how many bad pieces it sent.
	refused, strikes int

	// Round trip and sign of life.
	rtt      time.Duration // the least measured, 0 before the first
	pingSent time.Time
	lastSeen time.Time
	path     path
	link     *link // to a global peer's cluster
	position int   // the own node's, in the order of its mob at the link to it
	ready    bool  // listed in State.keen
	idle     bool  // it had nothing to be asked for, and no news since
	matched  bool  // a local peer, or a global one whose share overlaps the node's
}

// news is what a peer told of pieces, and is told of them.
type news struct {
	have, claim  *bitset.Set
	hasTold      bool              // its first Have has come
	deferred     map[int]time.Time // when the node may begin a piece that others are to begin first
	interestSent bool              // it was told what we wish to hear of
	interest     interest          // and that is this

	subscribed    *bitset.Set // what it wishes to hear of
	pending       proto.Have  // changes to announce, gathered for a batch
	hasPending    bool
	announcing    bool // listed in State.owing
	urgent        bool // some of the news is
	earlyHaves    int  // pieces that it was told of at once
	announcedSlow int  // the number of slow pieces that it was told
}

// wish is of which pieces a node wishes to hear from a peer.
type interest uint8

const (
	noInterest interest = iota
	shareInterest
	allInterest
)

// theft is what a node knows of a local peer whose slow pieces it might steal.
type theft struct {
	slow      int       // pieces that it is slow at
	stealSent time.Time // when it was last asked for them
}

// owed says whether the peer owes us blocks.
func (p *peer) busy() bool { return len(p.requests) > 0 }

// working says whether the peer has a piece to finish. It may do so when it is not
// matched any more: another that is may not have that piece.
func (p *peer) working() bool { return p.current != nil && p.current.peer == p }

// ask notes a request.
func (p *peer) addRequest(now time.Time, f *fetch, sp proto.Span) {
	if !p.busy() {
		p.meter.start(now)
		p.lastBlock = now
	}
	p.requests = append(p.requests, request{fetch: f, span: sp, sent: now})
	p.count(int(sp.Length))
}

// settle takes back the request for a span; ok is false when there is none.
func (p *peer) removeRequest(sp proto.Span) (r request, ok bool) {
	for i := range p.requests {
		if p.requests[i].span == sp {
			r = p.requests[i]
			p.requests = append(p.requests[:i], p.requests[i+1:]...)
			p.count(-int(sp.Length))
			return r, true
		}
	}
	return request{}, false
}

// block is the size of the next request: about half a queue at the peer's rate. It is
// the least of a peer that stalls, and never a part of what is whole.
func (p *peer) block(t *Tuning) int {
	if p.request > 0 {
		return p.request
	}
	if p.stalled {
		return t.MinBlock
	}
	r := p.meter.rate()
	want, b := int(r*t.Queue.Seconds()/2), t.MinBlock
	if p.link == nil {
		b = t.LANBlock
	}
	switch {
	case p.Guest:
		want = p.guestWindow(t) / 4
	case p.link != nil:
		want = int(p.link.size / 4)
	case r == 0:
		return t.MaxBlock
	}
	for b < t.MaxBlock && 2*b <= want {
		b *= 2
	}
	return b
}

// count adds to the bytes in flight.
func (p *peer) count(n int) {
	p.inFlight += n
	if p.link != nil {
		p.link.out += n
	}
}

// room says whether another block may be asked for.
func (p *peer) room(t *Tuning) bool {
	block := p.block(t)
	if p.link == nil {
		return p.inFlight+block <= p.window(t)
	}
	if p.Guest {
		return p.inFlight+block <= max(p.guestWindow(t), block)
	}
	if p.link.out+block > max(int(p.link.size), block) {
		return false
	}
	// One slow peer must not take all of the link's window.
	most := 2 * p.meter.rate() * (p.path.rtt + t.Queue).Seconds()
	return p.inFlight+block <= max(int(most), 4*t.MinBlock, block)
}

// guestWindow is how many bytes may be in flight from a guest. When it answers says
// little of the queue on the way from it: others' programs look at their requests
// when they see fit. So it is what comes in the time that it takes to answer, and
// in Queue, which is enough to find out whether more would come.
func (p *peer) guestWindow(t *Tuning) int {
	want := p.meter.rate() * (p.path.rtt*3/2 + t.Queue).Seconds()
	return min(max(int(want), 4*t.MinBlock), t.MaxWindow)
}

// lanQueue is the part of Queue that the queue at a local peer may take: what
// members wait for at each other delays what goes over the WAN from there.
const lanQueue = 4

// window is how many bytes may be in flight from the peer: what the link holds
// in its round trip, and a queue; at least a block. In a large cluster a member asks
// all others, and what each holds back for all its askers is what everybody waits
// for at the end.
func (p *peer) window(t *Tuning) int {
	r := p.meter.rate()
	queue := min(int(r*t.Queue.Seconds()/lanQueue), t.MaxWindow)
	return max(int(r*p.rtt.Seconds())+queue, p.block(t))
}

// trip is how long an answer takes that waits for nothing else.
func (p *peer) trip() time.Duration {
	if p.Guest {
		return p.path.rtt
	}
	return p.rtt
}

// wait estimates when a byte asked for now would come, in seconds.
func (p *peer) wait() float64 {
	r := p.meter.rate()
	if r == 0 {
		return 1
	}
	return p.trip().Seconds() + float64(p.inFlight)/r
}
