package swarm_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestSourceOfLinkReturns removes the only source of a link without trackers until the nodes that fetch no longer dial it. They remain
// connected with each other, and fetch the rest once the source is back.
func TestSourceOfLinkReturns(t *testing.T) {
	t.Parallel()
	source := peertest.Start(t, "A")
	path, content := peertest.RandomFile(t, 4<<20)
	seed, link := peertest.Seed(t, source, path, peer.SeedOptions{})
	seed.SetLimits(limit.Limits{WANUp: 32 << 10}) // the content takes longer than the test waits
	var logs [2]peertest.Recorder
	var nodes []*peer.Node
	for i := range logs {
		log := slog.New(slog.NewTextHandler(&logs[i], &slog.HandlerOptions{Level: slog.LevelDebug}))
		nodes = append(nodes, peertest.Start(t, "B", peertest.Log(log), peertest.Configure(func(c *peer.Config) {
			c.Tuning = mob.DefaultTuning()
			c.Tuning.Retry, c.Tuning.MaxRetry = time.Millisecond, time.Millisecond
		})))
	}
	gets := peertest.GetAll(t, nodes, link)
	peertest.Eventually(t, "three sessions", func() bool {
		return gets[0].Status().Connected == 2 && gets[1].Status().Connected == 2 && gets[0].Status().Have > 0
	})
	if _, err := source.Remove(seed, false); err != nil {
		t.Fatal(err)
	}
	for i := range logs {
		peertest.Eventually(t, "eight failed dials", func() bool { return logs[i].Count("dial failed") >= 8 })
	}
	peertest.Seed(t, source, path, peer.SeedOptions{})
	peertest.WaitEqual(t, gets, content)
}
