package peer_test

import (
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPriority checks that a transfer is limited while one of a higher priority receives, that transfers of one priority
// are not, and that both complete.
func TestPriority(t *testing.T) {
	t.Parallel()
	gate := peertest.NewGate(0)
	source, node := peertest.Start(t, "B", peertest.WithGate(gate)), peertest.Start(t, "A")
	_, first, lowContent := peertest.SeedRandom(t, source, 2<<20, peer.SeedOptions{})
	_, second, content := peertest.SeedRandom(t, source, 2<<20+1, peer.SeedOptions{})
	low, err := node.Get(first, filepath.Join(t.TempDir(), "low"), peer.GetOptions{Priority: limit.Low})
	if err != nil {
		t.Fatal(err)
	}
	low.SetLimits(limit.Limits{WANDown: 1000})
	normal := peertest.Get(t, node, second, filepath.Join(t.TempDir(), "normal"))
	normal.SetLimits(limit.Limits{WANDown: 64 << 10})
	gate.Open()
	peertest.Eventually(t, "the low one is limited", func() bool { return low.Governed().WANDown > 0 })
	if normal.Governed() != (limit.Limits{}) {
		t.Error("the normal one is limited")
	}
	if err := low.SetPriority(limit.Normal); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "transfers of one priority are not limited", func() bool { return low.Governed() == limit.Limits{} })
	if got := low.Status().Priority; got != limit.Normal {
		t.Errorf("priority %q", got)
	}
	if err := low.SetPriority(limit.Low); err != nil {
		t.Fatal(err)
	}
	low.SetLimits(limit.Limits{})
	normal.SetLimits(limit.Limits{})
	peertest.WaitEqual(t, []*peer.Transfer{normal}, content)
	peertest.WaitEqual(t, []*peer.Transfer{low}, lowContent)
	peertest.Eventually(t, "the limit ends with the higher transfer", func() bool { return low.Governed() == limit.Limits{} })
}
