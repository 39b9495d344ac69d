package mob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// witness is a State, and what it did about events.
type witness struct {
	*State
	now time.Time
	did []Action
}

func newWitness(self proto.PeerID, cluster string) *witness {
	return &witness{
		State: New(Config{Self: self, Cluster: cluster, Length: 64 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil),
		now:   time.Unix(0, 0),
	}
}

// hears steps through events, a fifth of a second apart.
func (s *witness) hears(evs ...Event) {
	for _, ev := range evs {
		s.now = s.now.Add(200 * time.Millisecond)
		s.did = append(s.did, s.Step(s.now, ev)...)
	}
}

func (s *witness) joins(cluster string, ids ...proto.PeerID) {
	for _, id := range ids {
		s.hears(Joined{Node: Node{ID: id, Cluster: cluster}}, Received{id, &proto.Have{}})
	}
}

// take returns the actions of one kind since it was called last.
func take[A Action](s *witness) (as []A) {
	for _, a := range s.did {
		if a, ok := a.(A); ok {
			as = append(as, a)
		}
	}
	s.did = nil
	return as
}

// TestMaxGlobalBoundsDials checks that a node with more matched peers than it may dial dials one in
// each of the first clusters.
func TestMaxGlobalBoundsDials(t *testing.T) {
	s := newWitness("c0", "C")
	s.Tuning.MaxGlobal = 2
	s.joins("C", "c1", "c2")
	var far []Node
	for _, cluster := range []string{"a", "b", "d"} {
		for rank := range 3 {
			far = append(far, Node{ID: proto.PeerID(fmt.Sprint(cluster, rank)), Cluster: cluster})
		}
	}
	s.hears(Learned{Nodes: far})
	for range 10 {
		s.hears(Tick{})
	}
	var dials []proto.PeerID
	for _, d := range take[Dial](s) {
		if d.Peer[0] != 'c' {
			dials = append(dials, d.Peer)
		}
	}
	if want := []proto.PeerID{"a0", "b0"}; !slices.Equal(dials, want) {
		t.Errorf("it dials %q, want %q", dials, want)
	}
}

// TestRedialsBackOff checks that a peer which ends each stream immediately, as after a ban, is
// redialed at growing intervals, even if it has every piece. A peer that sends a Have first is
// redialed without delay.
func TestRedialsBackOff(t *testing.T) {
	for k := range 4 {
		greets, whole := k&1 > 0, k&2 > 0
		s := newWitness("c0", "C")
		s.hears(Learned{Nodes: []Node{{ID: "c1", Cluster: "C"}}})
		dials := 0
		for end := s.now.Add(10 * time.Second); s.now.Before(end); {
			s.hears(Tick{})
			if len(take[Dial](s)) == 0 {
				continue
			}
			dials++
			s.hears(Joined{Node: Node{ID: "c1", Cluster: "C"}, Whole: whole})
			if greets {
				s.hears(Received{"c1", &proto.Have{}})
			}
			s.hears(Left{"c1"})
		}
		if few := dials <= 4; few == greets || dials < 3 {
			t.Errorf("sends a Have %v, complete %v: %d dials in 10 s", greets, whole, dials)
		}
	}
}
