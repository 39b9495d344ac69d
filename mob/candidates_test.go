package mob

import (
	"fmt"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// invented returns members that do not exist, whose ids come first.
func invented(n int, cluster func(int) string) (nodes []Node) {
	for i := range n {
		nodes = append(nodes, Node{ID: proto.PeerID(fmt.Sprintf("\x00%06d", i)), Cluster: cluster(i)})
	}
	return nodes
}

// TestCandidatesDoNotEvictMembers has a peer name 50,000 members that do not exist, of the node's
// cluster or with a cluster each, with IDs before actual ones. They are not counted or advertised, and
// a few are dialed at a time. Members that a tracker names are dialed immediately.
func TestCandidatesDoNotEvictMembers(t *testing.T) {
	for name, cluster := range map[string]func(int) string{
		"own cluster":   func(int) string { return "C" },
		"other cluster": func(int) string { return "D" },
		"a cluster each": func(i int) string {
			return fmt.Sprint("cluster", i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWitness("c0", "C")
			s.joins("E", "teller")
			take[Dial](s)
			s.hears(Learned{Nodes: invented(50_000, cluster), Hearsay: true})
			var actual []Node
			for i := range 20 {
				actual = append(actual, Node{ID: proto.PeerID(fmt.Sprint("real", i)), Cluster: "C"})
			}
			s.hears(Learned{Nodes: actual}, Tick{}, Tick{}, Tick{})
			members, candidates := 0, 0
			for _, a := range s.did {
				switch a := a.(type) {
				case Dial:
					if a.Peer[0] == 0 {
						candidates++
					} else {
						members++
					}
				case Introduce:
					for _, n := range a.Members {
						if n.ID[0] == 0 {
							t.Fatalf("%q is sent a candidate", a.Peer)
						}
					}
				}
			}
			if members != len(actual) || candidates == 0 || candidates > 8 {
				t.Errorf("%d of %d members and %d candidates are dialed", members, len(actual), candidates)
			}
			if s.Site().Size != len(actual)+1 || len(s.Site().Siblings) != 1 {
				t.Errorf("the cluster has %d members and %d siblings, want %d and 1", s.Site().Size, len(s.Site().Siblings), len(actual)+1)
			}
			// Each that fails makes room for the next.
			for _, d := range take[Dial](s) {
				if d.Peer[0] == 0 {
					s.hears(Unreachable{Peer: d.Peer})
				}
			}
			if n := len(take[Dial](s)); n != candidates {
				t.Errorf("%d more are dialed after %d failed", n, candidates)
			}
		})
	}
}

// TestCandidateJoins checks that a candidate that joins is counted and sent to other peers.
func TestCandidateJoins(t *testing.T) {
	s := newWitness("c0", "C")
	s.joins("C", "teller")
	s.hears(Learned{Nodes: []Node{{ID: "c2", Cluster: "C"}, {ID: "teller", Cluster: "C"}}, Hearsay: true})
	if d := take[Dial](s); len(d) != 1 || d[0].Peer != "c2" || s.Site().Size != 2 {
		t.Fatalf("it dials %v, and its cluster has %d members", d, s.Site().Size)
	}
	s.joins("C", "c2")
	if s.Site().Size != 3 {
		t.Errorf("the cluster has %d members", s.Site().Size)
	}
	told := false
	s.joins("C", "c3")
	for _, i := range take[Introduce](s) {
		for _, n := range i.Members {
			told = told || i.Peer == "c3" && n.ID == "c2"
		}
	}
	if !told {
		t.Error("the member is not sent to peers")
	}
}

// TestCandidatesDoNotDelayFetching checks that candidates do not keep a node from fetching over the
// WAN for longer than it settles.
func TestCandidatesDoNotDelayFetching(t *testing.T) {
	s := newWitness("c0", "C")
	s.joins("B", "source")
	s.hears(Received{"source", &proto.Have{Have: []proto.Range{{Count: 64}}}})
	for i := range 100 {
		s.hears(Learned{Nodes: []Node{{ID: proto.PeerID(fmt.Sprint("c", i+1)), Cluster: "C"}}, Hearsay: true})
		for _, a := range take[Send](s) {
			if _, ok := a.Message.(*proto.Request); ok {
				return
			}
		}
	}
	t.Errorf("nothing is requested in %v", s.now)
}
