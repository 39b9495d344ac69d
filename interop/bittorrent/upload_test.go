package bittorrent

import (
	"sync"
	"testing"
	"time"
)

// TestUploadLimit downloads with two clients from a node with a limit, which bounds both
// together, and with one from a node without, whose bytes no limit counts.
func TestUploadLimit(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	s := newSample(t, 4<<20)
	limited, free := startNode(t, "A", s.torrent(), limit), startNode(t, "B", s.torrent(), 0)
	limited.seed(t, s)
	free.seed(t, s)
	var wg sync.WaitGroup
	start := time.Now()
	for i, n := range []*node{limited, limited, free} {
		c := connect(t, n, s, modern, byte(1+i))
		wg.Go(c.download)
	}
	wg.Wait()
	took := time.Since(start)
	// The burst is not limited.
	least := time.Duration(2*len(s.data)-limit/5) * time.Second / limit
	if took < least {
		t.Errorf("%d bytes took %v with a limit of %d a second", 2*len(s.data), took, limit)
	}
	if passed := free.server.limiter.Passed(); passed > 0 {
		t.Errorf("%d bytes count for a limit of the node without one", passed)
	}
}
