package sim

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// sendQueue holds the blocks that a node was asked for. Each peer has a socket of
// its own, and sockets share an interface evenly: next comes the block of the
// peer that was sent the least while it had blocks waiting (start-time fair
// queueing). A peer gets its blocks in the order in which it asked for them.
type sendQueue struct {
	waiting []*backlog // of those with blocks
	byPeer  map[*node]*backlog
	sent    int64 // the count of the peer that was served last
}

// backlog is the blocks for one peer.
type backlog struct {
	blocks []*parcel
	sent   int64 // bytes; of one who comes back, no less than others' count
	// rate bounds what the peer is sent, in bytes per second, 0 for nothing; from is when
	// its next block may be.
	rate int
	from time.Duration
}

func (q *sendQueue) of(to *node) *backlog {
	if q.byPeer == nil {
		q.byPeer = map[*node]*backlog{}
	}
	b := q.byPeer[to]
	if b == nil {
		b = &backlog{}
		q.byPeer[to] = b
	}
	return b
}

// ration bounds the rate of what a peer is sent; 0 ends that.
func (q *sendQueue) ration(to *node, rate int) {
	b := q.of(to)
	b.rate, b.from = rate, 0
}

func (q *sendQueue) add(x *parcel) {
	b := q.of(x.to)
	if len(b.blocks) == 0 {
		b.sent = max(b.sent, q.sent)
		q.waiting = append(q.waiting, b)
	}
	b.blocks = append(b.blocks, x)
}

// next takes a block that may be sent now. When there is none x is nil, and at is when the
// first may be, 0 for never.
func (q *sendQueue) next(now time.Duration) (x *parcel, at time.Duration) {
	least := -1
	for i, b := range q.waiting {
		switch {
		case b.from > now && (at == 0 || b.from < at):
			at = b.from
		case b.from <= now && (least < 0 || b.sent < q.waiting[least].sent):
			least = i
		}
	}
	if least < 0 {
		return nil, at
	}
	b := q.waiting[least]
	x = b.blocks[0]
	if b.rate > 0 {
		b.from = now + time.Duration(float64(x.size)/float64(b.rate)*1e9)
	}
	q.sent = b.sent
	b.sent += int64(x.size)
	if b.blocks = b.blocks[1:]; len(b.blocks) == 0 {
		q.waiting = slices.Delete(q.waiting, least, least+1)
	}
	return x, 0
}

// cancel takes a block out that has not been sent.
func (q *sendQueue) cancel(to *node, sp proto.Span) {
	if b := q.byPeer[to]; b != nil {
		q.remove(b, func(x *parcel) bool { return x.span == sp })
	}
}

// forget takes out everything for a peer.
func (q *sendQueue) forget(to *node) {
	if b := q.byPeer[to]; b != nil {
		q.remove(b, func(*parcel) bool { return true })
		delete(q.byPeer, to)
	}
}

func (q *sendQueue) remove(b *backlog, gone func(*parcel) bool) {
	if b.blocks = slices.DeleteFunc(b.blocks, gone); len(b.blocks) == 0 {
		q.waiting = slices.DeleteFunc(q.waiting, func(o *backlog) bool { return o == b })
	}
}
