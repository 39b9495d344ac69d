package payload

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// MaxQueue bounds the requests of one peer that wait: they are more bytes than any link
// has in flight.
const MaxQueue = 16 << 10

// Queue holds the requests of one peer, or the blocks to push to it, in order. Safe for
// concurrent use.
type Queue struct {
	mu     sync.Mutex
	more   sync.Cond
	queue  []proto.Span // those from head on wait
	head   int
	bytes  int // of the blocks that wait
	spare  int // requests so far, less the cancels
	closed bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := new(Queue)
	q.more.L = &q.mu
	return q
}

// Add appends a request. It returns false if [MaxQueue] wait already.
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
	q.spare++
	q.more.Signal()
	return true
}

// Cancel removes a request if it still waits. It ignores more cancels than there were requests, since
// each searches the queue.
func (q *Queue) Cancel(sp proto.Span) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.spare == 0 {
		return
	}
	q.spare--
	if i := slices.Index(q.queue[q.head:], sp); i >= 0 {
		q.queue = slices.Delete(q.queue, q.head+i, q.head+i+1)
		q.bytes -= int(sp.Length)
	}
}

// Close empties the queue and ends Next, for good.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.queue, q.head, q.bytes = true, nil, 0, 0
	q.more.Broadcast()
}

// Next waits for the next request and removes it. waiting is the number of bytes behind it;
// ok is false once the queue is closed.
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

// TryNext is Next without waiting; ok is false if the queue is empty.
func (q *Queue) TryNext() (sp proto.Span, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.queue) {
		return sp, false
	}
	return q.take(), true
}

// take removes the first request, which there must be. The caller holds the lock.
func (q *Queue) take() proto.Span {
	sp := q.queue[q.head]
	q.head++
	q.bytes -= int(sp.Length)
	return sp
}
