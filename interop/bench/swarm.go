package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// program is a program of a system on a node.
type program interface {
	// Kill sends SIGKILL and waits. It may be called again, and at any time.
	Kill() error
	Killed() bool
	// Ended is closed when the program has ended. Failed is then an error, unless it was killed.
	Ended() <-chan struct{}
	Failed() error
	// Usage is the resources that it has used, also after Kill.
	Usage() netns.Usage
}

// receiver is the program of a receiver.
type receiver interface {
	program
	// Fetch returns when the program has the content complete and checked, at the path Copy.
	Fetch(ctx context.Context) error
	Copy() string
}

// swarm is a [Transfer] in which the source and each receiver run a program.
type swarm struct {
	source    program
	receivers map[*netns.Node]receiver
	uncounted interface{ Kill() error } // a tracker, whose usage does not count
	before    time.Duration             // CPU time until the start of the fetching
}

// Fetch implements [Transfer]. It fails with the first error of a receiver or of the source.
func (s *swarm) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	s.before = s.used().CPU
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.source.Ended():
			if err := s.source.Failed(); err != nil {
				cancel(err)
			}
		case <-ctx.Done():
		}
	}()
	var wg sync.WaitGroup
	for n, r := range s.receivers {
		wg.Go(func() {
			switch err := r.Fetch(ctx); {
			case r.Killed(): // whether it was complete or not
			case err != nil:
				cancel(err)
			default:
				complete(n)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Copy implements [Transfer].
func (s *swarm) Copy(n *netns.Node) string { return s.receivers[n].Copy() }

// Kill implements [Transfer].
func (s *swarm) Kill(n *netns.Node) error { return s.receivers[n].Kill() }

// programs lists all programs whose usage counts.
func (s *swarm) programs() (all []program) {
	if s.source != nil {
		all = append(all, s.source)
	}
	for _, r := range s.receivers {
		all = append(all, r)
	}
	return all
}

func (s *swarm) used() (sum netns.Usage) {
	for _, p := range s.programs() {
		sum.Add(p.Usage())
	}
	return sum
}

// Close implements [Transfer].
func (s *swarm) Close() (netns.Usage, error) {
	var errs []error
	for _, p := range s.programs() {
		errs = append(errs, p.Kill())
	}
	if s.uncounted != nil {
		errs = append(errs, s.uncounted.Kill())
	}
	used := s.used()
	used.CPU = max(0, used.CPU-s.before)
	return used, errors.Join(errs...)
}
