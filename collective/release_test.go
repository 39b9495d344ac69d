package collective_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer/peertest"
)

// A call that fails while its values are sent does not read them after it has returned.
func TestFailedCallReleasesValues(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	all := join(t, peertest.Clusters(t, 1, 2), "release")
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			if all[0].Receiving() {
				_ = all[1].Node().Close()
				return
			}
		}
	}()
	op := collective.Op{Merge: func(dst, _ []byte) ([]byte, error) { return dst, nil }}
	if _, err := all[1].AllReduce(ctx, make([]byte, 64<<20), op); err == nil {
		t.Error("no error")
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if bytes.Contains(stacks, []byte("sendParts")) {
		t.Error("the value is still being sent")
	}
}
