//go:build !race

package stream_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer/peertest"
)

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
	type usage struct {
		heap              uint64
		goroutines, names int
	}
	// rest sends n pieces, waits until all are released, and returns the usage.
	rest := func(n int64) (u usage) {
		_, err := io.CopyN(w, source, n*stream.PieceSize)
		check(t, err)
		peertest.Eventually(t, "everything is released", func() bool {
			return len(c.node.Transfers()) == 1 && c.sender.Stats().Memory <= stream.PieceSize && c.released == c.count()
		})
		for _, r := range c.receivers {
			peertest.Eventually(t, "one swarm at a receiver", func() bool { return len(r.node.Transfers()) == 1 })
			u.names += len(r.node.Stats().Transfers) + len(r.node.Stats().Clusters)
		}
		runtime.GC()
		runtime.GC() // the second one frees pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		u.heap, u.goroutines = m.HeapAlloc, runtime.NumGoroutine()
		return u
	}
	// Two receivers may be connected in one moment and not in another, which is a dozen goroutines. So the most of
	// some moments is compared with the least of some that are seventy epochs later.
	before := rest(pieces / 16)
	for range 2 {
		u := rest(pieces / 16)
		before = usage{max(before.heap, u.heap), max(before.goroutines, u.goroutines), max(before.names, u.names)}
	}
	after := rest(pieces * 11 / 16)
	for range 2 {
		u := rest(pieces / 16)
		after = usage{min(after.heap, u.heap), min(after.goroutines, u.goroutines), min(after.names, u.names)}
	}
	t.Logf("%+v, then %+v", before, after)
	if after.heap > before.heap+before.heap/4+1<<20 || after.goroutines > before.goroutines+8 || after.names > before.names+8 {
		t.Errorf("%+v became %+v", before, after)
	}
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, a, b} {
		if o := <-out; o.n != pieces*stream.PieceSize || o.err != nil {
			t.Errorf("%d: %v", o.n, o.err)
		}
	}
}
