package permutation

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// FuzzStep feeds a state with what peers and the caller may say, and with what they may
// not. It must not panic. One block leaves at a time, to a joined peer that lacks its
// generation, and no more than the window allows are unconfirmed.
func FuzzStep(f *testing.F) {
	f.Add([]byte("\x00the quick brown fox jumps over the lazy dog"))
	f.Add([]byte{1, 12, 0, 12, 1, 3, 1, 0, 4, 1, 0, 5, 1, 0, 8, 1, 0, 9, 0, 0, 10, 1, 0, 7, 1, 0, 2, 1, 0, 0, 3, 0})
	f.Add([]byte{7, 2, 1, 0, 6, 1, 0, 6, 1, 0, 3, 2, 1, 11, 1, 1, 12, 0, 0, 4, 1, 0, 5, 3, 0, 12, 0, 0, 4, 3, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		mode := data[0]
		s := meet(t, 5, Config{Blocks: []int{3, 1, 2}, Strategy: proto.Sequential + proto.Strategy(mode%4), Have: all[:mode>>2%4]})
		var leaving proto.PeerID
		for data = data[1:]; len(data) >= 3; data = data[3:] {
			id := proto.PeerID("000" + string('0'+data[1]%6))
			ev := event(data[0]%16, id, int(data[2])%5-1)
			switch ev := ev.(type) {
			case mob.Sent:
				leaving = ended(leaving, ev.Peer)
			case mob.Left:
				leaving = ended(leaving, ev.Peer)
			}
			s.now = s.now.Add(time.Duration(data[2]) * time.Millisecond)
			for _, a := range s.do(ev) {
				switch a := a.(type) {
				case mob.Drop:
					leaving = ended(leaving, a.Peer)
				case mob.Push:
					m := s.members[a.Peer]
					if leaving != "" || m == nil || !m.joined || m.complete.Has(a.Generation) {
						t.Fatalf("after %T%+v: pushes %+v, beside %q, to %+v", ev, ev, a, leaving, m)
					}
					leaving = a.Peer
				}
			}
			if len(s.unconfirmed) > 2*window {
				t.Fatalf("%d unconfirmed blocks", len(s.unconfirmed))
			}
		}
	})
}

// ended is the peer that a block leaves for, unless that was the given one.
func ended(leaving, id proto.PeerID) proto.PeerID {
	if leaving == id {
		return ""
	}
	return leaving
}

// event makes an event of three bytes.
func event(kind byte, id proto.PeerID, arg int) mob.Event {
	member := mob.Node{ID: id, Cluster: "A"}
	heard := func(m proto.Message) mob.Event { return mob.Received{Peer: id, Message: m} }
	switch kind {
	case 0:
		p := permutation(uint64(arg+2), max(arg, 0)+2)
		p.Since[1] = uint32(arg)
		return heard(p)
	case 1:
		return mob.Joined{Node: member, Whole: arg > 1}
	case 2:
		return mob.Left{Peer: id}
	case 3:
		return heard(&proto.Decoded{Lost: only(arg)})
	case 4:
		return heard(&proto.Decoded{Generations: only(arg)})
	case 5:
		return heard(&proto.Holds{Generation: uint32(arg), Blocks: []byte{byte(arg)}})
	case 6:
		return mob.Sent{Peer: id}
	case 7:
		return mob.Gathered{Peer: id, Generation: arg, Block: arg, Round: arg << 40}
	case 8:
		return mob.Decoded{Generation: arg}
	case 9:
		return heard(&proto.Taken{})
	case 10:
		return mob.Filled{Generation: arg}
	case 11:
		return mob.Polluted{Generation: arg}
	case 12:
		return mob.Failed{Piece: arg, Sources: []proto.PeerID{id}}
	case 13:
		return mob.Learned{Nodes: []mob.Node{member}}
	case 14:
		return mob.Unreachable{Peer: id}
	default:
		return mob.Tick{}
	}
}
