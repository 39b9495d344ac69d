package pickertest

import (
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Benchmark picks of a peer of the own cluster, and of one of another, that has most of the
// numbers. A third cluster has a part of them.
func Benchmark(b *testing.B, newPicker func() mob.Picker) {
	for name, cluster := range map[string]string{"LAN": "B", "WAN": "A"} {
		b.Run(name, func(b *testing.B) {
			n := newNode(Subject{Picker: newPicker()})
			count := uint32(n.count())
			n.joins("p", cluster, &proto.Have{Have: []proto.Range{{Count: count / 10 * 9}}})
			peer := n.spy.peer
			n.joins("q", "C", &proto.Have{Have: []proto.Range{{First: count / 3, Count: count / 3}}})
			b.ReportAllocs()
			for b.Loop() {
				n.spy.Picker.Pick(peer)
			}
		})
	}
}
