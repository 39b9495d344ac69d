package peer

import (
	"context"
	"errors"
	"testing"
)

// TestWaitSeesEveryState checks that Wait returns a result that a later state has forgotten, and not one that is not
// published.
func TestWaitSeesEveryState(t *testing.T) {
	transfer, why := new(Transfer), errors.New("why")
	transfer.states.current.Store(&state{changed: make(chan struct{})})
	first := transfer.state()
	transfer.change(func(s *state) {
		s.settle(why)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := transfer.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait returned %v before the state was published", err)
		}
	})
	transfer.change(func(s *state) { s.outcome = result{} })
	transfer.states.current.Store(first) // as for a call of Wait before the changes
	if err := transfer.Wait(t.Context()); !errors.Is(err, why) {
		t.Errorf("Wait returned %v, want %v", err, why)
	}
}
