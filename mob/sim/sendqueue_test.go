package sim

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestSendQueue requires peers to get their blocks in order, and even parts of the
// interface by bytes: one with small blocks does not wait behind large ones.
func TestSendQueue(t *testing.T) {
	var q sendQueue
	near, far, gone := &node{index: 1}, &node{index: 2}, &node{index: 3}
	ask := func(to *node, begin, size uint32) {
		q.add(&frame{to: to, size: int(size), span: proto.Span{Begin: begin, Length: size}})
	}
	for i := range uint32(3) {
		ask(near, i, 100)
	}
	for i := range uint32(6) {
		ask(far, i, 50)
	}
	ask(gone, 0, 10)
	q.forget(gone)
	q.cancel(far, proto.Span{Begin: 5, Length: 50})
	var got [][2]int
	for x := q.next(); x != nil; x = q.next() {
		got = append(got, [2]int{x.to.index, int(x.span.Begin)})
		if len(got) == 5 { // from now on, as much as the other ones, and no more for having had nothing
			ask(gone, 1, 10)
			ask(gone, 2, 10)
		}
	}
	want := [][2]int{{1, 0}, {2, 0}, {2, 1}, {1, 1}, {2, 2}, {3, 1}, {3, 2}, {2, 3}, {1, 2}, {2, 4}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
