package peer_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// onHost names the host of a node.
func onHost(name string) peertest.Option {
	return peertest.Configure(func(c *peer.Config) { c.Host = name })
}

// chainOf plans a chain through hosts, each named after its cluster and a number, as a1.
func chainOf(hosts ...string) *plan.Plan {
	p := &plan.Plan{Hosts: hosts, Trees: []plan.Tree{{Rate: 1e6}}}
	for h, name := range hosts {
		p.Clusters = append(p.Clusters, strings.ToUpper(name[:1]))
		p.Trees[0].Parents = append(p.Trees[0].Parents, h-1)
	}
	return p
}

// startHosts starts a node for each host, in its cluster.
func startHosts(t *testing.T, tracker *peertest.Tracker, names ...string) (nodes []*peer.Node) {
	for _, name := range names {
		nodes = append(nodes, tracker.Start(t, strings.ToUpper(name[:1]), onHost(name)))
	}
	return nodes
}

// TestPlanned sends a file along a chain, with a tracker and by peers alone: each host receives from
// its parent. One host of the plan never joins, so the next one steals, as does a host that is missing in the plan.
func TestPlanned(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	for name, start := range map[string]func(t testing.TB, cluster string, opts ...peertest.Option) *peer.Node{
		"tracker": tracker.Start, "peers": peertest.Start,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes []*peer.Node
			for _, host := range []string{"a1", "b1", "b2", "c1", "d2", "c9"} {
				nodes = append(nodes, start(t, strings.ToUpper(host[:1]), onHost(host), peertest.Configure(func(c *peer.Config) {
					if c.Tuning = mob.DefaultTuning(); host == "b2" {
						c.Tuning.Stall = time.Minute // on a busy machine its parent may be late
					}
				})))
			}
			_, link, content := peertest.SeedRandom(t, nodes[0], 8<<20,
				peer.SeedOptions{Plan: chainOf("a1", "b1", "b2", "c1", "d1", "d2")})
			gets := peertest.GetAll(t, nodes[1:], link)
			peertest.WaitEqual(t, gets, content)
			for i, g := range gets {
				parents, followed := min(1, max(0, 4-i)), min(1, max(0, 3-i)) // of the four hosts, the last has a parent that is away
				peertest.Eventually(t, "the status of the plan", func() bool {
					p := g.Status().Plan
					return p.Known && p.In == (i < 4) && p.Parents == parents && p.Followed == followed
				})
			}
			if wan := gets[1].Status().Traffic.WANIn; wan != 0 {
				t.Errorf("%d bytes entered a cluster at a host whose parent is in it", wan)
			}
		})
	}
}

// TestPlanAfterRestart stops the source and a relay. The transfer continues after they restart, with the plan.
// Then the source seeds with another plan.
func TestPlanAfterRestart(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	folder, copied := t.TempDir(), filepath.Join(t.TempDir(), "out")
	path, content := peertest.RandomFile(t, 4<<20)
	p := chainOf("a1", "b1", "c1")
	source := tracker.Start(t, "A", onHost("a1"), peertest.Data(folder))
	seed, link := peertest.Seed(t, source, path, peer.SeedOptions{Plan: p})
	if !link.Plan.Defined() || seed.Status().Plan.Parents != 0 {
		t.Errorf("%s, %+v", link, seed.Status().Plan)
	}
	relay := t.TempDir()
	b := tracker.Start(t, "B", onHost("b1"), peertest.Data(relay))
	get := peertest.Get(t, b, link, copied)
	peertest.Wait(t, get)
	for _, n := range []*peer.Node{b, source} {
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Without the source, the relay serves the plan.
	b = tracker.Start(t, "B", onHost("b1"), peertest.Data(relay))
	ts := b.Transfers()
	if len(ts) != 1 || ts[0].Link().Plan != link.Plan {
		t.Fatalf("%v after a restart", ts)
	}
	peertest.Wait(t, ts[0])
	c := tracker.Start(t, "C", onHost("c1"))
	gets := peertest.GetAll(t, []*peer.Node{c}, link)
	peertest.WaitEqual(t, gets, content)
	peertest.Eventually(t, "the host to say that it followed the plan", func() bool { return gets[0].Status().Plan.Followed == 1 })
	// Another plan for the same content.
	source = tracker.Start(t, "A", onHost("a1"), peertest.Data(folder))
	again, other := peertest.Seed(t, source, path, peer.SeedOptions{Plan: chainOf("a1", "c1", "b1")})
	if other.Plan == link.Plan || again.Status().Plan.ID != other.Plan.String() {
		t.Errorf("%s, then %s", link.Plan, other.Plan)
	}
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, other = peertest.Seed(t, source, path, peer.SeedOptions{Plan: p}); other.Plan != link.Plan {
		t.Errorf("a stopped transfer is seeded with %s, want %s", other.Plan, link.Plan)
	}
}

// TestSeedPlanErrors seeds with plans that cannot be.
func TestSeedPlanErrors(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A", onHost("a1"))
	path, _ := peertest.RandomFile(t, 1<<20)
	loop := chainOf("a1", "b1", "b2")
	loop.Trees[0].Parents = []int{-1, 2, 1}
	for want, opt := range map[string]peer.SeedOptions{
		"begins at the host b1, and this node is the host a1": {Plan: chainOf("b1", "a1")},
		"no way from the source":                              {Plan: loop},
		"planned or coded":                                    {Plan: chainOf("a1", "b1"), Coded: 16},
		"a transfer is planned":                               {Plan: chainOf("a1", "b1"), Strategy: proto.Overlap1},
	} {
		if _, err := n.Seed(context.Background(), path, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestPlanNamesNodesByID seeds and fetches by a plan that names hosts by the peer ids of their nodes.
func TestPlanNamesNodesByID(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a, b := tracker.Start(t, "A"), tracker.Start(t, "B")
	p := &plan.Plan{
		Hosts:    []string{a.Host().ID().String(), b.Host().ID().String()},
		Clusters: []string{"A", "B"},
		Trees:    []plan.Tree{{Rate: 1e6, Parents: []int{-1, 0}}},
	}
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{PieceLength: 64 << 10, Plan: p})
	if !link.Plan.Defined() {
		t.Fatal("the link names no plan")
	}
	peertest.Wait(t, peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out")))
	p.Hosts[0] = b.Host().ID().String()
	p.Hosts[1] = "other"
	path, _ := peertest.RandomFile(t, 1000)
	_, err := a.Seed(t.Context(), path, peer.SeedOptions{Plan: p})
	if err == nil || !strings.Contains(err.Error(), "the plan begins at the host "+p.Hosts[0]) {
		t.Errorf("a plan that begins at another node: %v", err)
	}
}
