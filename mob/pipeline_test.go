package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/proto"
)

// TestBlocksOfAWindow checks that blocks are half of a window on a near link, and a quarter on a far
// one and between racks.
func TestBlocksOfAWindow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cluster string
		rtt     time.Duration
		want    uint32
	}{
		{"near", "B", time.Millisecond, 32 << 10},
		{"far", "B", 60 * time.Millisecond, 16 << 10},
		{"rack", "A/r2", time.Millisecond, 16 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1, 0)
			s := New(Config{Self: "m", Cluster: "A/r1", Length: 1 << 20, PieceLength: 256 << 10, Tuning: DefaultTuning()}, nil)
			s.Step(now, Learned{})
			s.Step(now, Joined{Node: Node{ID: "p", Cluster: tt.cluster}})
			nonce := flow.PingNonce(s.started, now)
			now = now.Add(tt.rtt)
			s.Step(now, Received{"p", &proto.Pong{Nonce: nonce}})
			s.Joined["p"].Link.Size = 64 << 10
			spans := requests(s.Step(now, Received{"p", &proto.Have{Have: []proto.Range{{Count: 4}}}}))
			if len(spans) == 0 || spans[0].Length != tt.want {
				t.Errorf("requests %v, want blocks of %d bytes", spans, tt.want)
			}
		})
	}
}
