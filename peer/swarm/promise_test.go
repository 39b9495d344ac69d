package swarm_test

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// announceOnly sends a Have on a control stream, and then only answers pings.
func announceOnly(s network.Stream, m *proto.Have) {
	defer s.Reset()
	_ = proto.WriteMessage(s, m)
	_ = answerPings(s)
}

// TestUndelivered lets a member of a cluster not deliver pieces: it claims all, it reports that it is
// complete, or its disk hangs. The other members get the content nevertheless, and little of it twice.
func TestUndelivered(t *testing.T) {
	if testing.Short() {
		t.Skip("claims last for seconds")
	}
	t.Parallel()
	const size = 16 << 20
	all := []proto.Range{{Count: 1 << 16}}
	for name, promised := range map[string]*proto.Have{
		"claims all pieces":           {Claim: all},
		"reports that it is complete": {Have: all},
		"disk hangs":                  nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := peertest.NewGate(0)
			opts := []peertest.Option{peertest.At(0, peertest.WithGate(source))}
			if promised == nil {
				opts = append(opts, peertest.At(3, peertest.WithGate(peertest.NewGate(size/8))))
			}
			nodes := peertest.Clusters(t, 2, 3, opts...)
			_, link, content := peertest.SeedRandom(t, nodes[0], size, peer.SeedOptions{})
			gets := peertest.GetAll(t, nodes[1:], link)
			if promised != nil {
				h := peertest.Stranger(t)
				for _, n := range nodes[3:] {
					peertest.Eventually(t, "the swarm", func() bool { return swarmOf(n, link) != nil })
					hello := &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "B"}
					go announceOnly(controlAs(t, h, n, hello), promised)
				}
			}
			waitJoined(t, gets[:2], 2, 0)
			near := 2
			if promised != nil {
				near++
			}
			waitJoined(t, gets[2:], near, 0) // members that do not know each other fetch a copy each
			source.Open()
			peertest.WaitEqual(t, gets, content)
			honest := gets[2:]
			if promised == nil {
				honest = gets[3:] // what the first member of B has fetched, it keeps to itself
			}
			var wan int64
			for _, g := range honest {
				wan += g.Status().Traffic.WANIn
			}
			copies := float64(wan) / size
			t.Logf("%.3f copies crossed into B for the other members", copies)
			if copies > 1.2 {
				t.Error("that is too much")
			}
		})
	}
}
