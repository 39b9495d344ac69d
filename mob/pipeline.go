package mob

import "time"

// The pipeline of a peer is what is requested of it and has not come. On a link to another
// cluster the window bounds it for all peers behind the link. On the LAN it is what the peer
// delivers in a round trip, and a short queue.

// windowBlocks returns how many blocks the window of a link holds at least. Each costs CPU, whatever its
// size, so they are few on a near path. On a far one several sockets of the peer may send, each a block at
// a time. And between racks a piece takes so little time that a block which is cancelled has often been
// sent.
func (p *peer) windowBlocks() int {
	if short := p.rtt > 0 && p.rtt < p.link.limits.aim(); short && !p.near() {
		return 2
	}
	return 4
}

// block returns the size of the next request: about half a queue at the peer's rate, and the
// least size if the peer is stalled.
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
	case p.External:
		want = p.externalWindow(t) / 4
	case p.link != nil:
		want = int(p.link.size) / p.windowBlocks()
	case r == 0:
		return t.MaxBlock
	}
	for b < t.MaxBlock && 2*b <= want {
		b *= 2
	}
	return b
}

// room reports whether another block may be requested.
func (p *peer) room(t *Tuning) bool {
	block := p.block(t)
	if p.link == nil {
		return p.inFlight+block <= p.localWindow(t)
	}
	if p.External {
		return p.inFlight+block <= max(p.externalWindow(t), block)
	}
	if p.link.out+block > max(int(p.link.size), block) {
		return false
	}
	// One slow peer must not take all of the link's window.
	most := 2 * p.meter.rate() * (p.path.rtt + t.Queue).Seconds()
	return p.inFlight+block <= max(int(most), 4*t.MinBlock, block)
}

// externalWindow returns how many bytes may be in flight from an external peer. When it answers
// says little of the queue before it, since other programs look at their requests when they see
// fit. So it is what comes in the time that it takes to answer, and in Queue, which is enough to
// find out whether more would come.
func (p *peer) externalWindow(t *Tuning) int {
	want := p.meter.rate() * (p.path.rtt*3/2 + t.Queue).Seconds()
	return min(max(int(want), 4*t.MinBlock), t.MaxWindow)
}

// localQueue is the part of Queue that the queue at a local peer may take: what members wait for
// at each other delays what crosses the WAN from there.
const localQueue = 4

// localWindow returns how many bytes may be in flight from a local peer: what it delivers in a
// round trip, and a queue; at least a block. In a large cluster a member requests of all others,
// and everybody waits in the end for what each holds back for all of them. A parent in a plan is
// alone, so the next block is under way when one has come.
func (p *peer) localWindow(t *Tuning) int {
	r := p.meter.rate()
	queue := min(int(r*t.Queue.Seconds()/localQueue), t.MaxWindow)
	least := p.block(t)
	if p.parent {
		least *= 2
	}
	return max(int(r*p.rtt.Seconds())+queue, least)
}

// trip returns how long an answer takes that waits for nothing else.
func (p *peer) trip() time.Duration {
	if p.External {
		return p.path.rtt
	}
	return p.rtt
}

// wait estimates when a byte requested now would arrive, in seconds.
func (p *peer) wait() float64 {
	r := p.meter.rate()
	if r == 0 {
		return 1
	}
	return p.trip().Seconds() + float64(p.inFlight)/r
}
