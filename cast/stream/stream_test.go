package stream_test

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/cast/stream"
)

// TestSizes sends streams of all kinds of sizes to receivers of two clusters.
func TestSizes(t *testing.T) {
	for name, size := range map[string]int64{
		"nothing": 0, "one byte": 1, "a piece": stream.PieceSize, "a few": 1<<20 + 3, "many": 26<<20 + 17,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, nil)
			var outs []<-chan outcome
			var sums []*sum
			for _, cluster := range []string{"A", "A", "B"} {
				s := newSum()
				sums, outs = append(sums, s), append(outs, c.start(c.join(cluster, nil), s))
			}
			if n, err := c.run(random(size)); n != size || err != nil {
				t.Fatalf("sent %d of %d: %v", n, size, err)
			}
			for i, out := range outs {
				if got := <-out; got.n != size || got.err != nil {
					t.Errorf("receiver %d got %d of %d: %v", i, got.n, size, got.err)
				}
				sums[i].want(t, size)
			}
			if len(c.node.Transfers()) > 0 {
				t.Errorf("%d swarms are left at the sender", len(c.node.Transfers()))
			}
		})
	}
}

// TestEpochs sends a stream through many epochs.
func TestEpochs(t *testing.T) {
	t.Parallel()
	const size = 96*stream.PieceSize + 17
	c := newCast(t, nil)
	c.setEpoch(8)
	var outs []<-chan outcome
	var sums []*sum
	for _, cluster := range []string{"A", "A", "B"} {
		s := newSum()
		sums, outs = append(sums, s), append(outs, c.start(c.join(cluster, nil), s))
	}
	for _, out := range append(outs, c.background(random(size))) {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	for _, s := range sums {
		s.want(t, size)
	}
	for _, r := range c.receivers { // it leaves swarms in the background
		for end := time.Now().Add(waitTimeout); len(r.node.Transfers()) > 3; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("a receiver is in %d swarms", len(r.node.Transfers()))
			}
		}
	}
}
