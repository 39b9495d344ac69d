package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestFloods checks that a peer is banned whose messages cause much work, within a few steps per
// piece.
func TestFloods(t *testing.T) {
	all := []proto.Range{{Count: 64}}
	for name, flood := range map[string][]proto.Message{
		"haves and drops":  {&proto.Have{Have: all}, &proto.Have{Drop: all}},
		"claims and drops": {&proto.Have{Claim: all}, &proto.Have{Drop: all}},
		"wants":            {&proto.Want{Pieces: all}, &proto.Want{}},
		"steals":           {&proto.Steal{Rate: 1e9}},
		"pings":            {&proto.Ping{Nonce: 7}},
		"gives":            {&proto.Give{}},
		"bads":             {&proto.Bad{Piece: 3}},
		"members":          {&proto.Members{}},
		"hosts":            {&proto.Hosts{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWitness("b", "B")
			s.joins("B", "c")
			s.joins("A", "a")
			for k := range 20_000 {
				for _, m := range flood {
					s.did = append(s.did, s.Step(s.now, Received{"a", m})...)
				}
				if drops := take[Drop](s); len(drops) > 0 {
					if d := drops[0]; d.Peer != "a" || d.Code != proto.CodeBanned {
						t.Errorf("%+v", d)
					}
					t.Logf("banned after %d messages", (k+1)*len(flood))
					return
				}
			}
			t.Error("the peer is not banned")
		})
	}
}

// TestBusyPeersAreNoFlood checks that a peer is not banned for minutes of what honest peers do at
// their fastest.
func TestBusyPeersAreNoFlood(t *testing.T) {
	s := newWitness("b", "B")
	s.joins("B", "c")
	s.joins("A", "a")
	all := []proto.Range{{Count: 64}}
	for k := range 3 * 600 {
		for _, id := range []proto.PeerID{"a", "c"} {
			i := []proto.Range{{First: uint32(k % 64), Count: 1}}
			for _, m := range []proto.Message{
				&proto.Ping{Nonce: 7}, &proto.Pong{Nonce: 7}, &proto.Have{Claim: i}, &proto.Have{Drop: i}, &proto.Have{Claim: i},
				&proto.Have{Have: i},
			} {
				s.did = append(s.did, s.Step(s.now, Received{id, m})...)
			}
			if k%3 == 0 { // its rank shifts
				s.did = append(s.did, s.Step(s.now, Received{id, &proto.Want{Pieces: all}})...)
				s.did = append(s.did, s.Step(s.now, Received{id, &proto.Steal{Rate: 1e6}})...)
			}
			if k%20 == 0 {
				s.did = append(s.did, s.Step(s.now, Received{id, &proto.Members{}})...)
			}
		}
		s.now = s.now.Add(100 * time.Millisecond)
	}
	if drops := take[Drop](s); len(drops) > 0 {
		t.Errorf("%+v", drops)
	}
}

// TestFalseAlarms checks that a peer is banned that reports many valid pieces, but not for a few, as
// from a machine with bad memory.
func TestFalseAlarms(t *testing.T) {
	s := newWitness("b", "B")
	s.joins("A", "a")
	for k := range 100 {
		s.hears(Checked{Peer: "a", Piece: k, Alarm: true}, Checked{Peer: "a", Piece: k})
		if drops := take[Drop](s); len(drops) > 0 {
			if k != 16 {
				t.Errorf("banned after %d", k)
			}
			return
		}
	}
	t.Error("the peer is not banned")
}
