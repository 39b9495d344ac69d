package mob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestExternalPeersAreForgotten checks that external peers are not dialed or advertised, and that
// nothing is left of them.
func TestExternalPeersAreForgotten(t *testing.T) {
	s := New(Config{Self: "self", Cluster: "A", Length: 64 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil)
	now := time.Unix(0, 0)
	step := func(ev Event) {
		now = now.Add(time.Second)
		for _, a := range s.Step(now, ev) {
			switch a := a.(type) {
			case Dial:
				t.Fatalf("%q is dialed", a.Peer)
			case Introduce:
				for _, n := range a.Members {
					if n.External {
						t.Fatalf("%q is sent %q", a.Peer, n.ID)
					}
				}
			}
		}
	}
	step(Joined{Node: Node{ID: "node", Cluster: "B"}})
	for k := range 50 {
		id := proto.PeerID(fmt.Sprint("external", k))
		step(Joined{Node: Node{ID: id, Cluster: string(id), External: true}})
		step(Received{Peer: id, Message: &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
		step(Received{Peer: id, Message: &proto.Have{Have: []proto.Range{{Count: 64}}}})
		step(Received{Peer: "node", Message: &proto.Have{}}) // it lives
		if k%2 == 0 {
			step(Left{Peer: id})
		} else {
			for range s.Tuning.Strikes {
				step(Failed{Piece: 1, Sources: []proto.PeerID{id}})
			}
		}
	}
	site := s.Site()
	if len(site.Siblings) != 1 || len(site.Links) != 1 {
		t.Errorf("left are %d siblings, with %d links", len(site.Siblings), len(site.Links))
	}
	for i, n := range site.Rarity {
		if n != 0 {
			t.Fatalf("piece %d is in %d clusters", i, n)
		}
	}
}

// TestCompletePeerNeedNotAnnounce checks that pieces are requested of a peer that joins with every
// piece before it announces them.
func TestCompletePeerNeedNotAnnounce(t *testing.T) {
	for _, whole := range []bool{true, false} {
		s := New(Config{Self: "n", Cluster: "B", Length: 4 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil)
		now := time.Unix(1, 0)
		s.Step(now, Learned{})
		got := s.Step(now, Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: whole})
		asked := slices.ContainsFunc(got, func(a Action) bool {
			send, ok := a.(Send)
			if !ok {
				return false
			}
			_, ok = send.Message.(*proto.Request)
			return ok && send.Peer == "a"
		})
		if asked != whole {
			t.Errorf("complete %v, requested immediately %v", whole, asked)
		}
	}
}

// reunited is a node that was cut off, with what it dials and requests.
type reunited struct {
	*State
	now       time.Time
	dialed    []proto.PeerID
	requested map[proto.PeerID]int
}

func (r *reunited) step(ev Event) {
	r.now = r.now.Add(10 * time.Millisecond)
	for _, a := range r.Step(r.now, ev) {
		switch a := a.(type) {
		case Dial:
			r.dialed = append(r.dialed, a.Peer)
		case Send:
			if _, ok := a.Message.(*proto.Request); ok {
				r.requested[a.Peer]++
			}
		}
	}
}

// wait lets time pass. Peer a sends a message on each wake.
func (r *reunited) wait(d time.Duration) {
	for end := r.now.Add(d); r.now.Before(end); {
		r.now = r.now.Add(max(r.Wake()-10*time.Millisecond, 0))
		r.step(Tick{})
		r.step(Received{Peer: "a", Message: &proto.Have{}})
	}
}

// cutOff has a node of B know b of its cluster and a of another, lose both, and a come back first.
func cutOff(away func(r *reunited)) *reunited {
	cfg := Config{Self: "n", Cluster: "B", Length: 4 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}
	r := &reunited{State: New(cfg, nil), now: time.Unix(1, 0), requested: map[proto.PeerID]int{}}
	remote := Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: true}
	r.step(Learned{Nodes: []Node{{ID: "b", Cluster: "B"}}})
	r.step(Joined{Node: Node{ID: "b", Cluster: "B"}})
	r.step(remote)
	r.step(Left{Peer: "a"})
	away(r)
	r.dialed = nil
	clear(r.requested)
	r.step(remote)
	return r
}

// TestReunited has a node lose all peers, and a peer of another cluster return first. The node dials
// its own cluster, and waits for it, however long the dial takes, before it requests pieces that
// members may have. If an earlier dial fails, it dials again; if that fails, the member is away.
func TestReunited(t *testing.T) {
	for name, away := range map[string]func(*reunited){
		"dial to come": func(r *reunited) { // it failed, and pauses
			r.step(Left{Peer: "b"})
			for range 3 {
				r.step(Unreachable{Peer: "b"})
			}
		},
		"dial in progress": func(r *reunited) {
			r.step(Left{Peer: "b"})
			r.wait(2 * time.Second)
		},
		"session open": func(r *reunited) { r.wait(10 * time.Second) },
		"for ten minutes": func(r *reunited) {
			r.step(Left{Peer: "b"})
			for range 60 {
				r.wait(10 * time.Second)
				r.step(Unreachable{Peer: "b"})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := cutOff(away)
			r.wait(9 * time.Second) // longer than to settle
			switch name {
			case "dial in progress":
				r.step(Unreachable{Peer: "b"})
			case "session open":
				r.step(Left{Peer: "b"})
			}
			r.wait(9 * time.Second)
			if len(r.requested) > 0 || !slices.Equal(r.dialed, []proto.PeerID{"b"}) || !r.Status().Settling {
				t.Fatalf("requested of %v, dialed %q, settling %v", r.requested, r.dialed, r.Status().Settling)
			}
			r.step(Unreachable{Peer: "b"})
			r.step(Tick{})
			if r.requested["a"] == 0 {
				t.Error("nothing is requested once the members are known to be away")
			}
		})
	}
}

// TestReunitedAnswers has the member return after the peer of another cluster: pieces are requested of
// the member only, and a member that does not answer delays the node for a bounded time.
func TestReunitedAnswers(t *testing.T) {
	all := &proto.Have{Have: []proto.Range{{Count: 4}}}
	r := cutOff(func(r *reunited) { r.step(Left{Peer: "b"}) })
	r.wait(9 * time.Second)
	r.step(Joined{Node: Node{ID: "b", Cluster: "B"}})
	r.step(Left{Peer: "b"}) // both sides had dialed
	r.step(Joined{Node: Node{ID: "b", Cluster: "B"}})
	r.step(Received{Peer: "b", Message: all})
	r.wait(time.Second)
	if r.requested["a"] > 0 || r.requested["b"] == 0 {
		t.Errorf("requested of %v", r.requested)
	}

	r = cutOff(func(r *reunited) { r.wait(10 * time.Second) })
	for range 60 { // it sends something, and does not answer the ping
		r.wait(time.Second)
		r.step(Received{Peer: "b", Message: &proto.Have{}})
	}
	r.step(Unreachable{Peer: "b"})
	r.wait(time.Second)
	if r.requested["a"] == 0 {
		t.Error("a member that answers no ping stops the node for ever")
	}
}

// TestClusterNamesForgotten checks that an identity that joins under one name after the other leaves the last name only,
// that a link without peers has no pieces, and that identities that left do not keep a new site out.
func TestClusterNamesForgotten(t *testing.T) {
	s := newWitness("b", "B")
	site := s.Site()
	all := []proto.Range{{Count: 64}}
	for k := range 50 {
		s.joins(fmt.Sprint("name", k), "eve")
		s.hears(Received{"eve", &proto.Have{Have: all}}, Left{Peer: "eve"})
	}
	if len(site.Siblings) != 1 || len(site.Links) != 1 {
		t.Errorf("left are %d siblings, with %d links", len(site.Siblings), len(site.Links))
	}
	if n := site.Links["name49"].Pieces.Len(); n != 0 {
		t.Errorf("the link has %d pieces", n)
	}
	if err := CheckBooks(s.State); err != nil {
		t.Error(err)
	}

	s.joins("stays", "member")
	for k := range proto.MaxClusters + 50 {
		id := proto.PeerID(fmt.Sprint("eve", k))
		s.hears(Joined{Node: Node{ID: id, Cluster: string(id)}}, Left{Peer: id})
	}
	if len(site.Siblings) != proto.MaxClusters || !slices.Contains(site.Siblings, "stays") {
		t.Errorf("%d siblings", len(site.Siblings))
	}
	take[Drop](s)
	if s.joins("new", "honest"); s.Joined["honest"] == nil {
		t.Error("a new site is kept out by members that left")
	}
}

// TestClustersBounded checks that at most as many sites join as a tracker admits. The rest is dropped, or ignored if a tracker told
// of it; a member of a known site and one of the node's own may still join.
func TestClustersBounded(t *testing.T) {
	s := newWitness("b", "B")
	for k := range proto.MaxClusters {
		id := proto.PeerID(fmt.Sprint("n", k))
		s.State.Step(s.now, Joined{Node: Node{ID: id, Cluster: string(id)}})
	}
	s.State.Step(s.now, Learned{Nodes: []Node{{ID: "learned", Cluster: "other"}}})
	s.did = append(s.did, s.State.Step(s.now, Joined{Node: Node{ID: "late", Cluster: "other"}})...)
	drops := take[Drop](s)
	if len(drops) != 1 || drops[0].Peer != "late" || drops[0].Code != proto.CodeBusy || s.Joined["late"] != nil {
		t.Errorf("drops: %+v", drops)
	}
	if n := len(s.Site().Siblings); n != proto.MaxClusters || s.roster.Node("learned") != nil {
		t.Errorf("%d siblings", n)
	}
	s.joins("n1", "c")
	s.joins("B", "a")
	if s.Joined["c"] == nil || s.Joined["a"] == nil {
		t.Error("a member of a known site may not join")
	}
}

// TestCompletenessAnnounced checks that a node sends a complete peer a Have of all pieces as soon as it can read all of
// them, and not before.
func TestCompletenessAnnounced(t *testing.T) {
	all, first := proto.Range{Count: 2}, proto.Range{Count: 1}
	for _, c := range []struct {
		seed  bool
		steps []Event
		want  []bool
	}{
		{false, []Event{Stored{Piece: 0}, Stored{Piece: 1}}, []bool{false, true}},
		{false, []Event{Stored{Piece: 0}, Withheld{first}, Stored{Piece: 1}, Offered{all}}, []bool{false, false, false, true}},
		{true, []Event{Withheld{all}, Offered{first}, Offered{all}}, []bool{false, false, true}},
		{true, []Event{Withheld{first}, Lost{Piece: 1}, Stored{Piece: 1}, Offered{first}}, []bool{false, false, false, true}},
		{true, []Event{Lost{Piece: 1}, Stored{Piece: 1}}, []bool{false, true}},
	} {
		cfg := Config{Self: "n", Cluster: "B", Length: 2 << 20, PieceLength: 1 << 20, UploadOnly: c.seed, Tuning: DefaultTuning()}
		var have []proto.Range
		if c.seed {
			have = []proto.Range{all}
		}
		s, now := New(cfg, have), time.Unix(1, 0)
		s.Step(now, Learned{})
		s.Step(now, Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: true})
		for k, ev := range c.steps {
			sent := false
			for _, a := range s.Step(now, ev) {
				send, _ := a.(Send)
				h, ok := send.Message.(*proto.Have)
				sent = sent || ok && slices.Equal(h.Have, []proto.Range{all})
			}
			if sent != c.want[k] {
				t.Errorf("seed %v, %T: sent %v", c.seed, ev, sent)
			}
		}
	}
}
