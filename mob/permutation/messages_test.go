package permutation

import (
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// TestInvalidMessages wants peers that break the protocol to be dropped, once.
func TestInvalidMessages(t *testing.T) {
	for name, m := range map[string]proto.Message{
		"permutation without its sender": &proto.Permutation{Version: 2, Members: []proto.PeerID{"b", "c"}, Since: []uint32{0, 0}},
		"permutation with a generation":  &proto.Permutation{Version: 2, Members: []proto.PeerID{"a", "b"}, Since: []uint32{0, 3}},
		"generations beyond the last":    &proto.Decoded{Generations: []proto.Range{{First: 2, Count: 2}}},
		"a map of no generation":         &proto.Holds{Generation: 3, Blocks: []byte{1}},
		"a map of the wrong length":      &proto.Holds{Generation: 0, Blocks: []byte{1, 2}},
		"a far generation":               &proto.Decoded{Generations: []proto.Range{{First: proto.MaxPieces - 1, Count: 1}}},
	} {
		n := newNode(t, Config{Self: "b", Blocks: blocks, Strategy: proto.RandomBlock})
		n.join("a", true)
		if as := find[mob.Drop](n.hear("a", m)); len(as) != 1 || as[0].Peer != "a" || as[0].Code != proto.CodeProtocol {
			t.Errorf("%s: %+v", name, as)
		}
		if as := n.hear("a", m); len(as) > 0 {
			t.Errorf("%s, of a peer that has left: %+v", name, as)
		}
	}
	n := newNode(t, Config{Self: "b", Blocks: blocks})
	n.join("a", false)
	p := &proto.Permutation{Version: 2, Members: []proto.PeerID{"a", "b"}, Since: []uint32{0, 0}}
	if as := find[mob.Drop](n.hear("a", p)); len(as) != 1 {
		t.Errorf("permutation of a node that lacks generations: %+v", as)
	}
	if as := find[mob.Drop](n.do(mob.Failed{Piece: 0, Sources: []proto.PeerID{"a"}})); len(as) > 0 {
		t.Errorf("dropped twice: %+v", as)
	}
	n.join("a", true)
	if as := find[mob.Drop](n.do(mob.Failed{Piece: 0, Sources: []proto.PeerID{"a", "x"}})); len(as) != 1 {
		t.Errorf("sender of an invalid block: %+v", as)
	}
}
