package peer

import (
	"errors"
	"testing"
)

// TestWaitSeesThePublishedState checks that an outcome is settled once the state that settles it is published. Who waits
// would otherwise see the earlier phase.
func TestWaitSeesThePublishedState(t *testing.T) {
	transfer, outcome, why := new(Transfer), newOutcome(), errors.New("why")
	transfer.states.current.Store(&state{outcome: outcome, flushed: newOutcome()})
	transfer.change(func(s *state) {
		s.err = why
		s.settle(why)
		if outcome.settled() {
			t.Error("settled before the state was published")
		}
	})
	if err := outcome.wait(t.Context()); !errors.Is(err, why) || !errors.Is(transfer.state().err, why) {
		t.Errorf("Wait returned %v, and the state has %v", err, transfer.state().err)
	}
}
