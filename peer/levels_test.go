package peer_test

import (
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLevels fetches to nodes in racks, and sums up what each received and sent at each level.
func TestLevels(t *testing.T) {
	t.Parallel()
	tracker, gate := peertest.NewTracker(), peertest.NewGate(0)
	gate.Open()
	clusters := []string{"l/1", "g/1", "g/1", "g/2", "g", "flat"}
	nodes := []*peer.Node{tracker.Start(t, clusters[0], peertest.WithGate(gate))}
	for _, c := range clusters[1:] {
		nodes = append(nodes, tracker.Start(t, c))
	}
	seed, link, _ := peertest.SeedRandom(t, nodes[0], 2<<20, peer.SeedOptions{PieceLength: 64 << 10})
	transfers := []*peer.Transfer{seed}
	get := func(n *peer.Node) *peer.Transfer {
		transfers = append(transfers, peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out")))
		return transfers[len(transfers)-1]
	}
	peertest.Wait(t, get(nodes[1]))
	gate.Close() // for the next one, the node in its rack is the only source
	second := get(nodes[2])
	peertest.Eventually(t, "bytes from the own rack", func() bool {
		l := second.Status().Levels
		return len(l) == 2 && l[1].In > 0
	})
	gate.Open()
	for _, n := range nodes[3:] {
		get(n)
	}
	for _, tr := range transfers {
		peertest.Wait(t, tr)
	}
	for i, tr := range transfers {
		st := tr.Status()
		if clusters[i] == "flat" || clusters[i] == "g" {
			if st.Levels != nil {
				t.Errorf("%s: %+v", clusters[i], st.Levels)
			}
			continue
		}
		if len(st.Levels) != 2 || st.Levels[0].Group != clusters[i][:1] || st.Levels[1].Group != clusters[i] {
			t.Fatalf("%s: %+v", clusters[i], st.Levels)
		}
		if st.Levels[0].In+st.Levels[1].In != st.Traffic.LANIn || st.Levels[0].Out+st.Levels[1].Out != st.Traffic.LANOut {
			t.Errorf("%s: %+v of %+v", clusters[i], st.Levels, st.Traffic)
		}
		if i > 0 && st.Traffic.WANIn+st.Traffic.LANIn < st.Length {
			t.Errorf("%s: %+v", clusters[i], st.Traffic)
		}
		for _, p := range st.Peers {
			if p.Local != (p.Cluster == clusters[i]) {
				t.Errorf("%s: the peer of %s is local: %v", clusters[i], p.Cluster, p.Local)
			}
		}
	}
}
