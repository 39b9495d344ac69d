package peer

import (
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
