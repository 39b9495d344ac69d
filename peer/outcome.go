package peer

import "context"

// outcome is what a transfer comes to: every piece is there, or why not. It outlasts a restart,
// unless it was settled before.
type outcome struct {
	done chan struct{}
	err  error // constant once done is closed
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

func (o *outcome) settled() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// settle notes the outcome, unless that has been done. The caller has the transfer's lock.
func (o *outcome) settle(err error) {
	if !o.settled() {
		o.err = err
		close(o.done)
	}
}

// wait blocks until the outcome is settled, or ctx ends.
func (o *outcome) wait(ctx context.Context) error {
	if o.settled() {
		return o.err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
