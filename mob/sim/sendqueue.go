package sim

import (
	"slices"

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

func (q *sendQueue) add(x *parcel) {
	b := q.of(x.to)
	if len(b.blocks) == 0 {
		b.sent = max(b.sent, q.sent)
		q.waiting = append(q.waiting, b)
	}
	b.blocks = append(b.blocks, x)
}

// next takes the block that is sent next, nil when there is none.
func (q *sendQueue) next() *parcel {
	least := -1
	for i, b := range q.waiting {
		if least < 0 || b.sent < q.waiting[least].sent {
			least = i
		}
	}
	if least < 0 {
		return nil
	}
	b := q.waiting[least]
	x := b.blocks[0]
	q.sent = b.sent
	b.sent += int64(x.size)
	if b.blocks = b.blocks[1:]; len(b.blocks) == 0 {
		q.waiting = slices.Delete(q.waiting, least, least+1)
	}
	return x
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
