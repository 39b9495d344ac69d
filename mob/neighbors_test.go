package mob

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// newSparse returns a node that fetches length bytes, so that sessions are expensive.
func newSparse(i int, length int64) *witness {
	c := Config{
		Self: proto.PeerID(fmt.Sprintf("%c%d", 'a'+i*7%26, i)), Cluster: "C",
		Length: length, PieceLength: 256 << 10, Seed: uint64(i), Tuning: DefaultTuning(),
	}
	c.Tuning.Session = 256 << 10
	return &witness{State: New(c, nil), now: time.Unix(0, 0)}
}

// TestNeighbors starts the nodes of a large cluster one after the other. Each knows all earlier ones.
// With a small content there are few sessions, which connect all nodes, also after some have left.
// With a large one there is a session for each pair.
func TestNeighbors(t *testing.T) {
	const nodes = 100
	for _, tt := range []struct {
		length   int64
		sessions int // at most
	}{
		{1000, 4 * nodes},
		{4 << 20, 16 * nodes},
		{1 << 30, nodes * (nodes - 1) / 2},
	} {
		t.Run(fmt.Sprint(tt.length), func(t *testing.T) {
			byID := map[proto.PeerID]*witness{}
			var all []*witness
			var known []Node
			sessions := 0
			// connect carries out dials. Dials to nodes that left fail.
			connect := func(from *witness) {
				for dials := take[Dial](from); len(dials) > 0; dials = take[Dial](from) {
					for _, d := range dials {
						to := byID[d.Peer]
						if to == nil {
							from.hears(Unreachable{Peer: d.Peer})
							continue
						}
						sessions++
						from.joins("C", d.Peer)
						to.joins("C", from.cfg.Self)
					}
				}
			}
			for i := range nodes {
				s := newSparse(i, tt.length)
				s.hears(Learned{Nodes: known})
				all, byID[s.cfg.Self] = append(all, s), s
				connect(s)
				known = append(known, Node{ID: s.cfg.Self, Cluster: "C"})
			}
			if sessions > tt.sessions || sessions < min(tt.sessions, 4*nodes)*9/10 {
				t.Errorf("%d sessions, want %d at most", sessions, tt.sessions)
			}
			if n := reached(all[0], byID); n != nodes {
				t.Errorf("%d of %d nodes are connected", n, nodes)
			}
			for i, s := range all { // all but every third end, the oldest among them
				if i%3 == 1 {
					continue
				}
				delete(byID, s.cfg.Self)
				for _, p := range s.Peers {
					if left := byID[p.ID]; left != nil {
						left.hears(Left{Peer: s.cfg.Self})
					}
				}
			}
			for range 20 {
				for _, s := range byID {
					s.hears(Tick{})
					connect(s)
				}
			}
			if n := reached(all[1], byID); n != len(byID) {
				t.Errorf("%d of %d nodes are connected after the rest has left", n, len(byID))
			}
		})
	}
}

// reached counts the nodes that are connected to one.
func reached(from *witness, byID map[proto.PeerID]*witness) int {
	seen := map[proto.PeerID]bool{from.cfg.Self: true}
	for next := []*witness{from}; len(next) > 0; next = next[1:] {
		for _, p := range next[0].Peers {
			if n := byID[p.ID]; n != nil && !seen[p.ID] {
				seen[p.ID] = true
				next = append(next, n)
			}
		}
	}
	return len(seen)
}

// TestCompleteNodesDoNotDial checks that a complete node of a large cluster with a small content
// leaves dials to other nodes.
func TestCompleteNodesDoNotDial(t *testing.T) {
	s := newSparse(0, 1000)
	s.hears(Stored{Piece: 0})
	var others []Node
	for i := range 50 {
		others = append(others, Node{ID: proto.PeerID(fmt.Sprint("other", i)), Cluster: "C"})
	}
	s.hears(Learned{Nodes: others}, Tick{}, Tick{})
	if d := take[Dial](s); len(d) > 0 {
		t.Errorf("it dials %v", d)
	}
}
