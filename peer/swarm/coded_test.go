package swarm_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestCodedSmallContents moves content shorter than a generation, block or piece.
func TestCodedSmallContents(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	for i, size := range []int{0, 1, 64 << 10, 256<<10 + 1, 3 << 20, 5<<20 + 70001} {
		for _, k := range []int{2, 4, 16, 255} {
			t.Run(fmt.Sprint(size, " ", k), func(t *testing.T) {
				_, link, content := peertest.SeedRandom(t, a, size+4*i+k, peer.SeedOptions{Coded: k})
				if link.Coded != k {
					t.Errorf("link with generations of %d, want %d", link.Coded, k)
				}
				out := filepath.Join(t.TempDir(), "out")
				get := peertest.Get(t, b, link, out)
				peertest.Wait(t, get)
				peertest.EqualFile(t, out, content)
				if st := get.Status(); st.Coded != k || st.PiecesHave != st.Pieces || len(st.Polluters) != 0 {
					t.Errorf("status %+v", st)
				}
			})
		}
	}
}
