package swarm

import "context"

// Probe waits until the loop has answered, and fails if ctx ends before. It does not fail if the
// swarm ends.
func (s *Swarm) Probe(ctx context.Context) error {
	answered := make(chan struct{})
	select {
	case s.inbox <- func() { close(answered) }:
	case <-s.ctx.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-answered:
	case <-s.ctx.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
