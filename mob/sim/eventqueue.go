package sim

import "time"

// event happens at a time of the simulation. Events of the same time happen in the order in
// which they were added.
type event struct {
	at  time.Duration
	seq uint64
	do  happening
}

// happening is the effect of an event.
type happening interface{ happen(s *sim) }

// call is a happening that is rare enough to be a closure.
type call func()

func (c call) happen(*sim) { c() }

// eventQueue is a heap of events, the first on top. container/heap would box each.
type eventQueue struct {
	heap []event
	seq  uint64
}

func (q *eventQueue) add(at time.Duration, do happening) {
	q.seq++
	q.heap = append(q.heap, event{at, q.seq, do})
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *eventQueue) next() event {
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = event{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }
