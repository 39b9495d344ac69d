package swarm_test

import (
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLossyMember lets a member reject half of all requests: every node gets the content,
// and no node is named as a polluter.
func TestLossyMember(t *testing.T) {
	t.Parallel()
	var rejected atomic.Int64
	gate := peertest.NewGate(0)
	nodes := peertest.Clusters(t, 2, 3, peertest.At(0, peertest.WithGate(gate)), peertest.At(3, peertest.WithFaults(peertest.Lossy(&rejected))))
	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{Coded: 16})
	gets := peertest.GetAll(t, nodes[1:], link)
	// Its neighbors request blocks of the lossy member only if they have not fetched everything before it joins.
	waitJoined(t, gets, 2, 1)
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	checkNoPolluters(t, gets)
	if rejected.Load() == 0 {
		t.Error("no request was rejected")
	}
}

// checkNoPolluters checks that no node is named as a polluter.
func checkNoPolluters(t *testing.T, gets []*peer.Transfer) {
	t.Helper()
	for _, g := range gets {
		if ids := g.Status().Polluters; len(ids) > 0 {
			t.Errorf("%q are named as polluters", ids)
		}
	}
}
