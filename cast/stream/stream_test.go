package stream_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestSizes sends streams of all kinds of sizes to receivers of two clusters.
func TestSizes(t *testing.T) {
	for name, size := range map[string]int64{
		"nothing": 0, "one byte": 1, "a piece": stream.PieceSize, "a few": 1<<20 + 3, "many": 40<<20 + 17,
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
	for _, r := range c.receivers {
		if n := len(r.node.Transfers()); n > 3 {
			t.Errorf("a receiver is in %d swarms", n)
		}
	}
}

// TestFlat checks that a long stream takes no more memory, goroutines and names than a short one.
func TestFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a hundred epochs")
	}
	const epoch, pieces = 16, 1600
	c := newCast(t, nil)
	c.setEpoch(epoch)
	a, b := c.start(c.join("A", nil), io.Discard), c.start(c.join("A", nil), io.Discard)
	r, w := pipe(t)
	sent := c.background(r)
	source := random(pieces * stream.PieceSize)
	// rest has some pieces sent, waits until nothing is under way, and returns what there is.
	rest := func(n int64) (heap uint64, goroutines, transfers int) {
		_, err := io.CopyN(w, source, n*stream.PieceSize)
		check(t, err)
		peertest.Eventually(t, "everything is released", func() bool {
			st := c.sender.Stats()
			return len(c.node.Transfers()) == 1 && st.Memory <= stream.PieceSize && c.released == st.Published
		})
		for _, r := range c.receivers {
			peertest.Eventually(t, "one swarm at a receiver", func() bool { return len(r.node.Transfers()) == 1 })
			transfers += len(r.node.Stats().Transfers) + len(r.node.Stats().Clusters)
		}
		runtime.GC()
		runtime.GC() // what pools hold is gone after two
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine(), transfers
	}
	heap, goroutines, names := rest(pieces / 2)
	heap2, goroutines2, names2 := rest(pieces / 2)
	// Two receivers may be connected in one of the two moments and not in the other. That is a dozen goroutines, where one
	// that each epoch left behind would be fifty.
	const most = pieces / 2 / epoch / 2
	t.Logf("%d KiB and %d goroutines, then %d KiB and %d", heap>>10, goroutines, heap2>>10, goroutines2)
	if heap2 > heap+heap/4+1<<20 || goroutines2 > goroutines+most || names2 > names+most {
		t.Errorf("%d bytes, %d goroutines and %d names became %d, %d and %d", heap, goroutines, names, heap2, goroutines2, names2)
	}
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, a, b} {
		if o := <-out; o.n != pieces*stream.PieceSize || o.err != nil {
			t.Errorf("%d: %v", o.n, o.err)
		}
	}
}
