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
	tracker := peertest.NewTracker()
	clusters := []string{"l/1", "g/1", "g/1", "g/2", "g", "flat"}
	var nodes []*peer.Node
	for _, c := range clusters {
		nodes = append(nodes, tracker.Start(t, c))
	}
	seed, link, _ := peertest.SeedRandom(t, nodes[0], 2<<20, peer.SeedOptions{PieceLength: 64 << 10})
	transfers := []*peer.Transfer{seed}
	for _, n := range nodes[1:] {
		transfers = append(transfers, peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out")))
	}
	for _, tr := range transfers {
		peertest.Wait(t, tr)
	}
	var in int64
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
		in += st.Levels[1].In
		for _, p := range st.Peers {
			if p.Local != (p.Cluster == clusters[i]) {
				t.Errorf("%s: the peer of %s is local: %v", clusters[i], p.Cluster, p.Local)
			}
		}
	}
	if in == 0 {
		t.Error("nothing came from own racks")
	}
}
