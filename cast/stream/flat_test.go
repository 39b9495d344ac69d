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
	measure := func() (u usage) {
		for _, r := range c.receivers {
			u.names += len(r.node.Stats().Transfers) + len(r.node.Stats().Clusters)
		}
		runtime.GC()
		runtime.GC() // the second one frees pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		u.heap, u.goroutines = m.HeapAlloc, runtime.NumGoroutine()
		return u
	}
	// send sends n pieces, waits until all are released, and returns the usage.
	send := func(n int64) usage {
		_, err := io.CopyN(w, source, n*stream.PieceSize)
		check(t, err)
		peertest.Eventually(t, "everything is released", func() bool {
			return len(c.node.Transfers()) == 1 && c.sender.Stats().Memory <= stream.PieceSize && c.released == c.count()
		})
		for _, r := range c.receivers {
			peertest.Eventually(t, "one swarm at a receiver", func() bool { return len(r.node.Transfers()) == 1 })
		}
		return measure()
	}
	// Two receivers may be connected in one moment and not in another, which is a dozen goroutines, and a busy machine releases
	// buffers late. So the most of some moments bounds what is left once after seventy epochs.
	most := send(pieces / 16)
	for range 2 {
		u := send(pieces / 16)
		most = usage{max(most.heap, u.heap), max(most.goroutines, u.goroutines), max(most.names, u.names)}
	}
	after := send(pieces * 13 / 16)
	t.Logf("at most %+v, then %+v", most, after)
	peertest.Eventually(t, "as much is used as before", func() bool {
		ok := after.heap <= most.heap+most.heap/4+1<<20 && after.goroutines <= most.goroutines+8 && after.names <= most.names+8
		if !ok {
			after = measure()
		}
		return ok
	})
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, a, b} {
		if o := <-out; o.n != pieces*stream.PieceSize || o.err != nil {
			t.Errorf("%d: %v", o.n, o.err)
		}
	}
}
