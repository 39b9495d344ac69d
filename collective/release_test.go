package collective

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/peertest"
)

// A call that fails while its values are sent does not read them after it has returned.
func TestFailedCallReleasesValues(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	all := make([]*Comm, 2)
	var joining sync.WaitGroup
	for _, n := range nodes {
		joining.Go(func() {
			c, err := Join(ctx, n, "release", len(nodes))
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(c.Close)
			all[c.Rank()] = c
		})
	}
	joining.Wait()
	if t.Failed() {
		t.FailNow()
	}
	go func() {
		for owner := all[0]; ; time.Sleep(time.Millisecond) {
			owner.mu.Lock()
			receiving := len(owner.partial) > 0
			owner.mu.Unlock()
			if receiving {
				_ = all[1].g.Node().Close()
				return
			}
		}
	}()
	_, err := all[1].AllReduce(ctx, make([]byte, 64<<20), Op{Merge: func(dst, _ []byte) ([]byte, error) { return dst, nil }})
	if err == nil {
		t.Error("no error")
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if bytes.Contains(stacks, []byte("sendParts")) {
		t.Error("the value is still being sent")
	}
}
