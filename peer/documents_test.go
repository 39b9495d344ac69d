package peer_test

import (
	"context"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestDescribeKnown describes content that the node seeds. It asks no tracker, which would take the node for one that leaves.
func TestDescribeKnown(t *testing.T) {
	t.Parallel()
	seed, link, _ := peertest.SeedRandom(t, peertest.NewTracker().Start(t, "A"), 1<<20, peer.SeedOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := seed.Node().Describe(ctx, link, func(string) { cancel() })
	if err != nil || d.Manifest() != seed.Manifest() {
		t.Errorf("%v, %v", d, err)
	}
}
