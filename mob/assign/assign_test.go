package assign

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// TestEachNumberHasOneMember checks that the shares of a group divide the numbers.
func TestEachNumberHasOneMember(t *testing.T) {
	const count = 40
	all := func(count, _, _ int) Share { return All(count) }
	for d, share := range []func(count, rank, size int) Share{Ranges, Turns, all} {
		for size := 1; size < 50; size++ {
			shares, listed := make([]int, count), make([]int, count)
			for rank := range size {
				s := share(count, rank, size)
				for i := range shares {
					if s.Has(i) {
						shares[i]++
					}
				}
				for _, r := range s.Ranges() {
					for i := uint64(r.First); i < r.End(); i++ {
						listed[i]++
					}
				}
			}
			want := 1
			if d == 2 {
				want = size
			}
			if k := slices.IndexFunc(shares, func(n int) bool { return n != want }); k >= 0 || !slices.Equal(shares, listed) {
				t.Errorf("division %d, %d members: %v, listed %v", d, size, shares, listed)
			}
		}
	}
}

// swarm is the assignments of all hosts of a plan that have joined each other.
type swarm struct {
	*plan.Plan
	at      []*Assignment
	members [][]*Member // by host: the other hosts
	taken   bool        // other members have every piece
}

const pieces = 50

func newSwarm(p *plan.Plan) *swarm {
	now := time.Unix(1, 0)
	rules := &conduct.Rules{Stall: 3 * time.Second}
	s := &swarm{Plan: p}
	for h, host := range p.Hosts {
		a := Follow(p, host)
		var groups []string
		for k := range proto.ClusterParts(p.Clusters[h]) {
			groups = append(groups, proto.ClusterGroup(p.Clusters[h], k+1))
		}
		a.Start(pieces, groups, rules, new(conduct.Book), func(int, int) bool { return s.taken })
		members := make([]*Member, len(p.Hosts))
		for o, other := range p.Hosts {
			if o == h {
				continue
			}
			shared := proto.SharedParts(p.Clusters[o], p.Clusters[h])
			c := conduct.NewPeer(rules, new(conduct.Record), shared > 0, now)
			members[o] = a.Join(other, proto.PeerID(other), shared, &c, now)
		}
		a.Update(now)
		s.at, s.members = append(s.at, a), append(s.members, members)
	}
	return s
}

func (s *swarm) sender(h, i int) *Member {
	return s.at[h].Sender(i)
}

// TestFollow checks for the plans of all algorithms that parents lead to the source, that both ends agree about each
// piece, and that each member gets it through one gateway of its group.
func TestFollow(t *testing.T) {
	topology := &plan.Topology{Links: []plan.Link{{A: "A", B: "B", AB: 3e6, BA: 3e6}}}
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2", "b3", "b4"} {
		cluster := string(name[0]-'a'+'A') + "/r" + string('1'+(name[1]-'1')/2)
		topology.Hosts = append(topology.Hosts, plan.Host{Name: name, Cluster: cluster, Send: 12e6, Receive: 12e6})
	}
	network, err := plan.NewNetwork(topology)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range plan.Algorithms() {
		p, err := network.Plan(algorithm, "a1", nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := newSwarm(p)
		for i := range pieces {
			for h := range p.Hosts {
				s.check(t, algorithm, h, i)
			}
		}
	}
}

func (s *swarm) check(t *testing.T, algorithm string, h, i int) {
	t.Helper()
	m := s.sender(h, i)
	if (m == nil) != (h == 0) {
		t.Fatalf("%s: piece %d of %s is sent by %v", algorithm, i, s.Hosts[h], m)
	}
	for o := range s.Hosts {
		if o != h && s.at[o].Owes(s.members[o][h], i) != (s.members[h][o] == m) {
			t.Errorf("%s: %s and %s do not agree on piece %d", algorithm, s.Hosts[o], s.Hosts[h], i)
		}
	}
	for at, steps := h, 0; at != 0; steps++ {
		if at = s.Index(string(s.sender(at, i).ID)); steps > len(s.Hosts) {
			t.Fatalf("%s: the parents of %s do not lead to the source", algorithm, s.Hosts[h])
		}
	}
	for level := range s.at[h].groups {
		switch b := s.at[h].gateway(level, i); {
		case b < 0 || s.at[b].gateway(level, i) != b:
			t.Errorf("%s: host %d is the gateway of piece %d for %s", algorithm, b, i, s.Hosts[h])
		case (b == h) == s.at[h].Leaves(level, i, time.Unix(2, 0)):
			t.Errorf("%s: %s is the gateway of piece %d and leaves it, or neither", algorithm, s.Hosts[h], i)
		}
	}
}

// TestFallsBackToShares checks that any member may send a piece while its parent is not followed, or after
// another member has the piece for which the node is the only gateway of its group.
func TestFallsBackToShares(t *testing.T) {
	p := &plan.Plan{
		Hosts: []string{"a", "b", "c"}, Clusters: []string{"A", "B", "B"},
		Trees: []plan.Tree{{Rate: 1, Parents: []int{-1, 0, 1}}},
	}
	s := newSwarm(p)
	now := time.Unix(1, 0)
	s.taken = true
	if s.sender(1, 0) != nil || s.sender(2, 0) == nil {
		t.Error("a piece that another member has is still the parent's, or one inside of the group is not")
	}
	s.taken = false
	b := s.members[2][1]
	b.peer.Stalled = true
	if !s.at[2].Update(now) || s.sender(2, 0) != nil {
		t.Error("a stalled parent is followed")
	}
	b.peer.Stalled = false
	s.at[2].Update(now)
	s.at[2].CheckLate(now.Add(time.Minute), func(*Member) bool { return true })
	if !s.at[2].Update(now) || s.sender(2, 0) != nil {
		t.Error("a late parent is followed")
	}
	b.AddNews(now)
	s.at[2].Update(now)
	s.at[2].Leave(b)
	s.at[2].Await(now.Add(time.Second))
	if s.at[2].Update(now); s.sender(2, 0) == nil || s.sender(2, 0).ID != "" {
		t.Error("a node does not wait for a parent that may come")
	}
	if s.at[2].Update(now.Add(time.Second)); s.sender(2, 0) != nil {
		t.Error("a parent that has not come is followed")
	}
	if a := Follow(nil, "c"); a.Sender(0) != nil || a.Leaves(0, 0, now) || a.Owes(nil, 0) {
		t.Error("something is planned without a plan")
	}
}
