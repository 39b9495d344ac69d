package mob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/outcast"
	"github.com/mobgrid/mob/proto"
)

// witness is one node's State, and what it does about events.
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

// take gives what was done since it was called last, of one kind.
func take[A Action](s *witness) (as []A) {
	for _, a := range s.did {
		if a, ok := a.(A); ok {
			as = append(as, a)
		}
	}
	s.did = nil
	return as
}

// toldOf gives the peers that were told of an outcast.
func (s *witness) toldOf(id proto.PeerID) (peers []proto.PeerID) {
	for _, a := range take[Send](s) {
		if m, ok := a.Message.(*proto.Outcast); ok && m.Peer == id {
			peers = append(peers, a.Peer)
		}
	}
	return peers
}

// TestTellsOfOutcast has a member send false pieces: the node tells other clusters once,
// and joins more of them, so that they hear it from several.
func TestTellsOfOutcast(t *testing.T) {
	s := newWitness("c0", "C")
	var far []Node
	for _, id := range []proto.PeerID{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"} {
		far = append(far, Node{ID: id, Cluster: "A"})
	}
	s.joins("C", "c1", "c2", "c3", "c4", "c5", "c6", "c7")
	s.hears(Learned{far}, Tick{}, Tick{})
	if ds := take[Dial](s); len(ds) != 1 || ds[0].Peer != "a0" {
		t.Errorf("it dials %v, want its global peer", ds)
	}
	s.joins("A", "a0")
	for range s.t.Strikes - 1 {
		s.hears(Failed{1, []proto.PeerID{"c1"}})
	}
	if got := s.toldOf("c1"); got != nil {
		t.Errorf("%q were told too early", got)
	}
	s.hears(Failed{1, []proto.PeerID{"c1"}}, Joined{Node: Node{ID: "c1", Cluster: "C"}}, Tick{}, Tick{})
	var dials []proto.PeerID
	for _, a := range s.did {
		if d, ok := a.(Dial); ok && d.Peer[0] == 'a' {
			dials = append(dials, d.Peer)
		}
	}
	if got, want := s.toldOf("c1"), []proto.PeerID{"a0"}; !slices.Equal(got, want) {
		t.Errorf("%q were told, want %q, once", got, want)
	}
	if want := []proto.PeerID{"a1", "a2", "a3"}; !slices.Equal(dials, want) {
		t.Errorf("it dials %q, want %q", dials, want)
	}
	s.joins("A", "a1")
	if got, want := s.toldOf("c1"), []proto.PeerID{"a1"}; !slices.Equal(got, want) {
		t.Errorf("of those who came later %q were told, want %q", got, want)
	}
}

// TestOwnPeersComeFirst has fewer connections allowed than there are global peers of the next
// ranks too: those of the node's own rank are dialled in all clusters, and of others as many
// as are left.
func TestOwnPeersComeFirst(t *testing.T) {
	s := newWitness("c0", "C")
	s.t.MaxGlobal = 5
	s.joins("C", "c1", "c2", "c3")
	for range s.t.Strikes {
		s.hears(Failed{1, []proto.PeerID{"c3"}})
	}
	var far []Node
	for _, cluster := range []string{"a", "b", "d"} {
		for rank := range 3 {
			far = append(far, Node{ID: proto.PeerID(fmt.Sprint(cluster, rank)), Cluster: cluster})
		}
	}
	s.hears(Learned{far})
	for range 10 {
		s.hears(Tick{})
	}
	var dials []proto.PeerID
	for _, d := range take[Dial](s) {
		if d.Peer[0] != 'c' {
			dials = append(dials, d.Peer)
		}
	}
	if want := []proto.PeerID{"a0", "b0", "d0", "a1", "b1"}; !slices.Equal(dials, want) {
		t.Errorf("it dials %q, want %q", dials, want)
	}
}

// TestOutcastsAreBounded has a node show out more members than others take in: no more are
// told of.
func TestOutcastsAreBounded(t *testing.T) {
	s := newWitness("c0", "C")
	for i := range 2 * outcast.Most {
		id := proto.PeerID(fmt.Sprint("c", i+1))
		s.joins("C", id)
		s.hears(Liar{id})
	}
	s.did = nil
	s.joins("A", "a0")
	told := 0
	for _, a := range take[Send](s) {
		if _, ok := a.Message.(*proto.Outcast); ok {
			told++
		}
	}
	if told != outcast.Most {
		t.Errorf("a newcomer is told of %d outcasts, want %d", told, outcast.Most)
	}
}

// TestRationsOutcast has members of another cluster tell of an outcast: it is rationed
// while others of the cluster wish to hear of pieces, and by no other words.
func TestRationsOutcast(t *testing.T) {
	s := newWitness("a0", "A")
	s.joins("A", "a1")
	s.joins("B", "b0", "b1")
	s.joins("C", "c0", "c1", "c2", "x")
	for _, id := range []proto.PeerID{"c0", "c1", "c2", "x"} {
		s.hears(Received{id, &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
	}
	word := func(from proto.PeerID) Event { return Received{from, &proto.Outcast{Peer: "x"}} }
	s.hears(word("a1"), word("b0"), word("b1"), word("x"), word("c0"), Tick{})
	if got := take[Ration](s); got != nil {
		t.Errorf("by the words of others and of one of its cluster: %v", got)
	}
	s.hears(word("c1"), Tick{})
	if got := take[Ration](s); !slices.Equal(got, []Ration{{"x", outcast.Rate}}) {
		t.Errorf("by the words of most: %v", got)
	}
	s.hears(Left{"x"})
	s.did = slices.Clone(s.Step(s.now, Joined{Node: Node{ID: "x", Cluster: "C"}})) // in the same moment
	if as := take[Ration](s); !slices.Equal(as, []Ration{{"x", outcast.Rate}}) {
		t.Errorf("when it has come again: %v", as)
	}
	for _, id := range []proto.PeerID{"c0", "c1", "c2"} {
		s.hears(Received{id, &proto.Want{}})
	}
	s.hears(Tick{})
	if got := take[Ration](s); !slices.Equal(got, []Ration{{"x", 0}}) {
		t.Errorf("when the others are whole: %v", got)
	}
}

// TestInventedIDsRationNobody has two ids of one machine say that they are of a cluster, and
// that the member of it that fetches here was shown out, while they pretend to wait.
func TestInventedIDsRationNobody(t *testing.T) {
	s := newWitness("a0", "A")
	for id, host := range map[proto.PeerID]string{"c0": "10.0.0.1", "x0": "10.0.0.9", "x1": "10.0.0.9"} {
		s.hears(Joined{Node: Node{ID: id, Cluster: "C", Host: host}}, Received{id, &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
	}
	for _, id := range []proto.PeerID{"x0", "x1"} {
		s.hears(Received{id, &proto.Outcast{Peer: "c0"}}, Tick{})
	}
	if got := take[Ration](s); got != nil {
		t.Errorf("by two ids of one host: %v", got)
	}
	s.joins("C", "x2")
	s.hears(Received{"x2", &proto.Outcast{Peer: "c0"}}, Tick{})
	if got := take[Ration](s); !slices.Equal(got, []Ration{{"c0", outcast.Rate}}) {
		t.Errorf("by those of two hosts: %v", got)
	}
}

// TestDialsOutcasterSeldom has a peer end each stream at once, as one does that has shown
// the node out: it is dialled ever more seldom, though it is known to be whole. Who greets is
// dialled soon again.
func TestDialsOutcasterSeldom(t *testing.T) {
	for k := range 4 {
		greets, whole := k&1 > 0, k&2 > 0
		s := newWitness("c0", "C")
		s.hears(Learned{[]Node{{ID: "c1", Cluster: "C"}}})
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
			t.Errorf("greets %v, whole %v: %d dials in 10 s", greets, whole, dials)
		}
	}
}
