package sim

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// sendQueue holds the blocks that a node is to send. Each peer has its own socket, and
// sockets share an interface evenly: next comes the block of the peer that was sent the
// least while it had blocks waiting (start-time fair queueing). A peer gets its blocks in
// the order in which they were queued.
type sendQueue struct {
	waiting []*backlog // of those with blocks
	byPeer  map[*node]*backlog
	sent    int64 // the sent of the peer that was served last
}

// backlog is the blocks for one peer.
type backlog struct {
	blocks []*frame
	sent   int64 // bytes; a peer that was idle begins where the other ones are
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

func (q *sendQueue) add(f *frame) {
	b := q.of(f.to)
	if len(b.blocks) == 0 {
		b.sent = max(b.sent, q.sent)
		q.waiting = append(q.waiting, b)
	}
	b.blocks = append(b.blocks, f)
}

// next takes the block that is sent next, nil when there is none.
func (q *sendQueue) next() *frame {
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
	f := b.blocks[0]
	q.sent = b.sent
	b.sent += int64(f.size)
	if b.blocks = b.blocks[1:]; len(b.blocks) == 0 {
		q.waiting = slices.Delete(q.waiting, least, least+1)
	}
	return f
}

// cancel takes a block out that has not been sent.
func (q *sendQueue) cancel(to *node, sp proto.Span) {
	if b := q.byPeer[to]; b != nil {
		q.remove(b, func(f *frame) bool { return f.span == sp })
	}
}

// forget removes everything for a peer.
func (q *sendQueue) forget(to *node) {
	if b := q.byPeer[to]; b != nil {
		q.remove(b, func(*frame) bool { return true })
		delete(q.byPeer, to)
	}
}

func (q *sendQueue) remove(b *backlog, gone func(*frame) bool) {
	if b.blocks = slices.DeleteFunc(b.blocks, gone); len(b.blocks) == 0 {
		q.waiting = slices.DeleteFunc(q.waiting, func(o *backlog) bool { return o == b })
	}
}
