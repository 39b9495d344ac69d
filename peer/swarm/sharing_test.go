package swarm_test

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// slowSharing takes its time to note a session.
type slowSharing struct{ swarm.Sharing }

func (s slowSharing) Join(id proto.PeerID, send func(proto.Message)) (leave func()) {
	time.Sleep(50 * time.Millisecond)
	return s.Sharing.Join(id, send)
}

// TestFirstDemandCounts sends the demand of a member immediately after its Hello, and only once.
func TestFirstDemandCounts(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) {
		cfg.Limits = limit.Limits{ClusterWANDown: 1 << 20}
	}))
	_, link, _ := peertest.SeedRandom(t, n, 1<<20, peer.SeedOptions{})
	sw := swarmOf(n, link)
	goOn := sw.Hang()
	sw.WrapSharing(func(s swarm.Sharing) swarm.Sharing { return slowSharing{s} })
	goOn()
	controlAs(t, peertest.Stranger(t), n,
		&proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "A", Features: proto.FeatureDemand},
		&proto.Demand{Limit: 1 << 20, Rate: uint64(limit.Unbounded)})
	peertest.Eventually(t, "both share the limit", func() bool { return n.Share().Members == 2 })
}
