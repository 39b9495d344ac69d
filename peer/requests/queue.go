package requests

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

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
	bytes  int       // of the blocks in the queue
	rate   int       // bounds what Next gives, in bytes per second; 0 for nothing
	from   time.Time // when Next may give the next request, while there is a rate
	closed bool

	rations int // how often a rate was set, or ended
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

// Ration bounds how many bytes Next gives requests for, per second; 0 ends that. The log is
// told: as the first time begins and ends, and when debugging of others, since other members of
// a cluster may have them begin and end as often as they like.
func (q *Queue) Ration(rate int, log *slog.Logger) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rate, q.from = rate, time.Time{}
	q.more.Broadcast()
	level := slog.LevelInfo
	if q.rations++; q.rations > 2 {
		level = slog.LevelDebug
	}
	if rate > 0 {
		log.Log(context.Background(), level, "outcast of its cluster is rationed", "rate", rate)
	} else {
		log.Log(context.Background(), level, "outcast is served like others again")
	}
}

// Next waits for the next request and its turn, and says how many bytes wait behind it; ok is
// false once the queue is closed.
func (q *Queue) Next() (sp proto.Span, waiting int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch pause := q.pause(); {
		case q.closed:
			return sp, 0, false
		case q.head == len(q.queue):
			q.queue, q.head = q.queue[:0], 0
			q.more.Wait()
		case pause > 0:
			wake := time.AfterFunc(pause, q.wake)
			q.more.Wait()
			wake.Stop()
		default:
			sp = q.take()
			if q.rate > 0 {
				q.from = time.Now().Add(time.Duration(float64(sp.Length) / float64(q.rate) * float64(time.Second)))
			}
			return sp, q.bytes, true
		}
	}
}

// wake has those look again that wait. It waits for the lock, and so until Next, which had
// it when it set the timer, listens: earlier nobody would hear it.
func (q *Queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.more.Broadcast()
}

// pause is how long it is until the turn of the next request.
func (q *Queue) pause() time.Duration {
	if q.rate == 0 {
		return 0
	}
	return time.Until(q.from)
}

// TryNext is Next that waits for nothing, turns included; ok is false when there is nothing.
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
