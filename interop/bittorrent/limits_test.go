package bittorrent

import (
	"sync"
	"testing"
	"time"
)

// TestUploadLimit has two clients at a node with a limit, and beside them one at a node
// without: the limit is for both together, and is kept and used.
func TestUploadLimit(t *testing.T) {
	const limit = 4 << 20
	s := newSample(t, 8<<20)
	limited, free := startNode(t, "A", s.offer(), limit), startNode(t, "B", s.offer(), 0)
	limited.seed(t, s)
	free.seed(t, s)
	var wg sync.WaitGroup
	took := make([]time.Duration, 3)
	began := time.Now()
	for i, n := range []*node{limited, limited, free} {
		c := call(t, n, s, modern, byte(1+i))
		wg.Go(func() {
			c.download()
			took[i] = time.Since(began)
		})
	}
	wg.Wait()
	// What is let through at once is not limited.
	least := time.Duration(2*len(s.data)-limit/5) * time.Second / limit
	if last := max(took[0], took[1]); last < least {
		t.Errorf("%d bytes went out in %v at %d a second", 2*len(s.data), last, limit)
	} else if last > 3*least {
		t.Errorf("the limit allows %v, and it took %v", least, last)
	}
	if r := float64(took[0]) / float64(took[1]); r < 0.5 || r > 2 {
		t.Errorf("one client took %v, the other %v", took[0], took[1])
	}
	if took[2] > least/2 {
		t.Errorf("without a limit it took %v, beside %v with one", took[2], took[0])
	}
}
