package swarm_test

import (
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLossyMember has a member that refuses half of all requests: everybody gets the content,
// and nobody is named as a polluter.
func TestLossyMember(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	nodes := peertest.Clusters(t, 2, 3, peertest.At(3, peertest.WithFaults(peertest.Lossy(&refused))))
	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{Coded: 16})
	gets := peertest.GetAll(t, nodes[1:], link)
	peertest.WaitEqual(t, gets, content)
	namesNobody(t, gets)
	if refused.Load() == 0 {
		t.Error("no request was refused")
	}
}

// namesNobody checks that no node is named as a polluter.
func namesNobody(t *testing.T, gets []*peer.Transfer) {
	t.Helper()
	for _, g := range gets {
		if liars := g.Status().Polluters; len(liars) > 0 {
			t.Errorf("%q are named as polluters", liars)
		}
	}
}
