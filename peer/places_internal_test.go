package peer

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mobgrid/mob/peer/metadata"
)

// TestLookBesideHungLook looks for the place of a transfer while another look hangs. It returns after a second, and leaves the
// place as it was.
func TestLookBesideHungLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transfer := new(Transfer)
		transfer.states.locating = make(chan struct{}, 1)
		transfer.states.current.Store(&state{rec: metadata.Record{Root: "/"}, changed: make(chan struct{})})
		transfer.states.locating <- struct{}{}
		transfer.locate()
		if ids := transfer.state().place.IDs; len(ids) > 0 {
			t.Errorf("the place is %v", ids)
		}
		<-transfer.states.locating
		transfer.locate()
		if len(transfer.state().place.IDs) == 0 {
			t.Error("the place is not known")
		}
	})
}

// TestLooksShared checks that calls share a look, but not one that started before them.
func TestLooksShared(t *testing.T) {
	const calls = 100
	var l looks
	var all sync.WaitGroup
	started, end := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		l.share(func() {
			close(started)
			<-end
		})
	})
	<-started
	looked := 0
	for range calls {
		all.Go(func() { l.share(func() { looked++ }) })
	}
	for l.asked.Load() <= calls {
		runtime.Gosched()
	}
	close(end)
	all.Wait()
	if looked != 1 {
		t.Errorf("%d looks for %d calls", looked, calls)
	}
}
