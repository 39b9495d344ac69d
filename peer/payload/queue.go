package payload

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// MaxQueue is how many requests of one peer may wait: more bytes in flight
// than any link holds.
const MaxQueue = 16 << 10

// Queue is the queue of what a peer asked for. Safe for concurrent use.
type Queue struct {
	mu     sync.Mutex
	more   sync.Cond
	queue  []proto.Span // from head on
	head   int
	bytes  int // of the blocks in the queue
	closed bool
}

// NewQueue is empty.
func NewQueue() *Queue {
	q := new(Queue)
	q.more.L = &q.mu
	return q
}

// Add is false when too many wait already.
func (q *Queue) Add(sp proto.Span) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue)-q.head >= MaxQueue {
		return false
	}
	if q.head > MaxQueue {
		q.queue, q.head = slices.Delete(q.queue, 0, q.head), 0
	}
	q.queue = append(q.queue, sp)
	q.bytes += int(sp.Length)
	q.more.Signal()
	return true
}

// Cancel takes a request out, if it still waits.
func (q *Queue) Cancel(sp proto.Span) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.queue[q.head:], sp); i >= 0 {
		q.queue = slices.Delete(q.queue, q.head+i, q.head+i+1)
		q.bytes -= int(sp.Length)
	}
}

// Close empties the queue for good.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.queue, q.head, q.bytes = true, nil, 0, 0
	q.more.Broadcast()
}

// Next waits for the next request, and says how many bytes wait behind it; ok is false once
// the queue is closed.
func (q *Queue) Next() (sp proto.Span, waiting int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.queue) && !q.closed {
		q.queue, q.head = q.queue[:0], 0
		q.more.Wait()
	}
	if q.closed {
		return sp, 0, false
	}
	sp = q.take()
	return sp, q.bytes, true
}

// TryNext is Next that does not wait; ok is false when the queue is empty.
func (q *Queue) TryNext() (sp proto.Span, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.queue) {
		return sp, false
	}
	return q.take(), true
}

func (q *Queue) take() proto.Span {
	sp := q.queue[q.head]
	q.head++
	q.bytes -= int(sp.Length)
	return sp
}
