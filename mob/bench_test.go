package mob_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// BenchmarkHave takes in a Have of one piece at a node with many peers, a quarter of them local.
func BenchmarkHave(b *testing.B) {
	for _, peers := range []int{64, 512} {
		b.Run(fmt.Sprint(peers), func(b *testing.B) {
			const pieces, length = 2000, 256 << 10
			now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			s := mob.New(mob.Config{
				Self: "m", Cluster: "A", Length: pieces * length, PieceLength: length, Tuning: mob.DefaultTuning(),
			}, nil)
			var ids []proto.PeerID
			for i := range peers {
				n := mob.Node{ID: proto.PeerID(fmt.Sprintf("n%03d", i)), Cluster: string(rune('A' + i%4))}
				ids = append(ids, n.ID)
				s.Step(now, mob.Joined{Node: n})
			}
			m := &proto.Have{Have: []proto.Range{{Count: 1}}}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				now = now.Add(20 * time.Microsecond)
				m.Have[0].First = uint32(i / peers % pieces)
				s.Step(now, mob.Received{Peer: ids[i%peers], Message: m})
			}
		})
	}
}
