package peer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPlanNamesNodesByID seeds and fetches by a plan that names hosts by the peer ids of their nodes.
func TestPlanNamesNodesByID(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a, b := tracker.Start(t, "A"), tracker.Start(t, "B")
	p := &plan.Plan{
		Hosts:    []string{a.Host().ID().String(), b.Host().ID().String()},
		Clusters: []string{"A", "B"},
		Trees:    []plan.Tree{{Rate: 1e6, Parents: []int{-1, 0}}},
	}
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{PieceLength: 64 << 10, Plan: p})
	if !link.Plan.Defined() {
		t.Fatal("the link names no plan")
	}
	peertest.Wait(t, peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out")))
	p.Hosts[0] = b.Host().ID().String()
	p.Hosts[1] = "other"
	path, _ := peertest.RandomFile(t, 1000)
	_, err := a.Seed(t.Context(), path, peer.SeedOptions{Plan: p})
	if err == nil || !strings.Contains(err.Error(), "the plan begins at the host "+p.Hosts[0]) {
		t.Errorf("a plan that begins at another node: %v", err)
	}
}
