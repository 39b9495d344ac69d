package bittorrent

import (
	"sync"
	"testing"
	"time"
)

// TestUploadLimit downloads with two clients from a node with a limit, which bounds both
// together, and with one from a node without.
func TestUploadLimit(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	s := newSample(t, 4<<20)
	limited, free := startNode(t, "A", s.torrent(), limit), startNode(t, "B", s.torrent(), 0)
	limited.seed(t, s)
	free.seed(t, s)
	var wg sync.WaitGroup
	took := make([]time.Duration, 3)
	start := time.Now()
	for i, n := range []*node{limited, limited, free} {
		c := connect(t, n, s, modern, byte(1+i))
		wg.Go(func() {
			c.download()
			took[i] = time.Since(start)
		})
	}
	wg.Wait()
	// The burst is not limited.
	least := time.Duration(2*len(s.data)-limit/5) * time.Second / limit
	last := max(took[0], took[1])
	if last < least {
		t.Errorf("%d bytes took %v with a limit of %d a second", 2*len(s.data), last, limit)
	}
	if took[2] > last {
		t.Errorf("without a limit it took %v, beside %v with one", took[2], last)
	}
}
