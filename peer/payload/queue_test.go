package payload

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

func span(i int) proto.Span { return proto.Span{Piece: uint32(i), Length: uint32(1 + i)} }

func TestQueueKeepsOrder(t *testing.T) {
	q := NewQueue()
	for i := range 100 {
		q.Add(span(i))
	}
	q.Cancel(span(50))
	q.Cancel(span(500))
	for i := range 100 {
		if i == 50 {
			continue
		}
		sp, waiting, ok := q.Next()
		left := 0
		for k := i + 1; k < 100; k++ {
			if k != 50 {
				left += k + 1
			}
		}
		if !ok || sp != span(i) || waiting != left {
			t.Fatalf("got %+v, %d waiting, %v; want %+v, %d", sp, waiting, ok, span(i), left)
		}
	}
}

func TestTryNextDoesNotWait(t *testing.T) {
	q := NewQueue()
	for i := range 3 {
		if sp, ok := q.TryNext(); ok {
			t.Fatalf("got %+v of nothing", sp)
		}
		q.Add(span(i))
		q.Add(span(i + 1))
		q.Cancel(span(i))
		if sp, ok := q.TryNext(); !ok || sp != span(i+1) {
			t.Fatalf("got %+v, %v; want %+v", sp, ok, span(i+1))
		}
	}
	q.Add(span(1))
	q.Close()
	if sp, ok := q.TryNext(); ok {
		t.Errorf("got %+v of a closed queue", sp)
	}
}

func TestQueueIsBounded(t *testing.T) {
	q := NewQueue()
	for i := range 3 * MaxQueue { // as many pass through it
		if !q.Add(span(i)) {
			t.Fatalf("request %d was rejected", i)
		}
		if i >= MaxQueue/2 {
			q.Next()
		}
	}
	n := MaxQueue / 2
	for q.Add(span(n)) {
		n++
	}
	if n != MaxQueue || cap(q.queue) > 4*MaxQueue {
		t.Errorf("%d wait, in room for %d", n, cap(q.queue))
	}
}

// Servers share a queue, and each request goes to one of them.
func TestQueueServesSeveral(t *testing.T) {
	const servers, n = 4, 1000
	q := NewQueue()
	got := make(chan []int)
	for range servers {
		go func() {
			var mine []int
			for sp, _, ok := q.Next(); ok; sp, _, ok = q.Next() {
				mine = append(mine, int(sp.Piece))
				if len(mine)%10 == 0 {
					q.Cancel(span(n)) // not there
				}
			}
			got <- mine
		}()
	}
	for i := range n {
		q.Add(span(i))
	}
	for {
		q.mu.Lock()
		empty := q.head == len(q.queue)
		q.mu.Unlock()
		if empty {
			break
		}
	}
	q.Close()
	var all []int
	for range servers {
		all = append(all, <-got...)
	}
	slices.Sort(all)
	if len(all) != n || len(slices.Compact(all)) != n {
		t.Errorf("%d requests were served, want each of %d once", len(all), n)
	}
}

func TestQueueAllocatesNothing(t *testing.T) {
	q := NewQueue()
	for i := range 100 {
		q.Add(span(i))
	}
	if n := testing.AllocsPerRun(10*MaxQueue, func() { q.Add(span(1)); q.Next() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPending(t *testing.T) {
	p := NewPending()
	p.Add(span(1), false)
	p.Add(span(2), true)
	p.Cancel(span(2))
	p.Cancel(span(3))
	p.Add(span(4), true)
	for i, want := range [][3]bool{1: {true, false, false}, 2: {false, false, true}, 3: {}, 4: {true, true, false}} {
		requested, made, cancelled := p.Take(span(i))
		if got := [3]bool{requested, made, cancelled}; got != want {
			t.Errorf("block %d: %v, want %v", i, got, want)
		}
		if requested, _, cancelled = p.Take(span(i)); requested || cancelled {
			t.Errorf("block %d was taken twice", i)
		}
	}
}

// TestCancelsBounded checks that a peer cannot have the queue searched more often than it requested.
func TestCancelsBounded(t *testing.T) {
	q := NewQueue()
	waits, absent := proto.Span{Piece: 1, Length: 5}, proto.Span{Piece: 2, Length: 5}
	q.Add(waits)
	q.Cancel(absent)
	q.Cancel(waits)
	if sp, ok := q.TryNext(); !ok || sp != waits {
		t.Error("a second cancel counts after one request")
	}
	q.Add(waits)
	q.Cancel(waits)
	if _, ok := q.TryNext(); ok {
		t.Error("a cancel does not count")
	}
}
