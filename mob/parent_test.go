package mob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// TestParentWithNewHostNameMatchesByRank checks that a parent in a plan is a peer like any other once its
// host has another name. Until then the node requests pieces of it at any rank.
func TestParentWithNewHostNameMatchesByRank(t *testing.T) {
	work := assign.Follow(&plan.Plan{
		Hosts: []string{"source", "self"}, Trees: []plan.Tree{{Rate: 1e6, Parents: []int{-1, 0}}},
	}, "self")
	s := &witness{now: time.Unix(0, 0), State: New(Config{
		Self: "b", Cluster: "B", Length: 64 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning(), Assignment: work,
	}, nil)}
	for k := range 4 {
		s.joins("A", proto.PeerID(fmt.Sprint("a", k)))
		s.joins("B", proto.PeerID(fmt.Sprint("c", k)))
	}
	var p *session.Peer
	for _, q := range s.Peers {
		if !q.Local && !q.Matched {
			p = q
		}
	}
	s.hears(Named{Peer: p.ID, Host: "source"})
	if !p.Matched || p.Position != 0 {
		t.Errorf("the parent: matched is %v, position %d", p.Matched, p.Position)
	}
	s.hears(Named{Peer: p.ID, Host: "other"})
	if p.Matched {
		t.Error("the former parent still matches")
	}
}

// TestHostOutsidePlanFetches checks that a node which is not in the plan fetches once the host through which pieces enter its cluster
// has not joined for a time, or has left.
func TestHostOutsidePlanFetches(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		work := assign.Follow(&plan.Plan{
			Hosts: []string{"source", "gateway"}, Clusters: []string{"A", "B"}, Trees: []plan.Tree{{Rate: 1e6, Parents: []int{-1, 0}}},
		}, "other")
		s := &witness{now: time.Unix(0, 0), State: New(Config{
			Self: "b", Cluster: "B", Length: 64 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning(), Assignment: work,
		}, nil)}
		if leaves {
			s.hears(Joined{Node: Node{ID: "g", Cluster: "B", Host: "gateway"}}, Received{"g", &proto.Have{}})
		}
		s.hears(Learned{}, Joined{Node: Node{ID: "a", Cluster: "A", Host: "source"}, Whole: true})
		if leaves {
			s.hears(Left{"g"})
		}
		for range 40 {
			s.hears(Tick{})
		}
		if !slices.ContainsFunc(take[Send](s), func(a Send) bool { _, ok := a.Message.(*proto.Request); return ok }) {
			t.Errorf("the gateway leaves: %v, and nothing is requested", leaves)
		}
	}
}
