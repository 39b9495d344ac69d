package swarm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestProbe blocks the loop of one of two transfers. The probe of the node fails until the loop continues.
func TestProbe(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	peertest.SeedRandom(t, a, 2<<20, peer.SeedOptions{})
	if err := a.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	goOn := swarmOf(a, link).Hang()
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	done := make(chan error, 1)
	go func() { done <- a.Probe(ctx) }()
	cancel(late)
	if err := <-done; !errors.Is(err, late) {
		t.Errorf("the node hangs, and says %v", err)
	}
	goOn()
	if err := a.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}
