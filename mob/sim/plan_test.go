package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// tree makes a tree of the edges from each host to other nodes, by their names.
func tree(p *plan.Plan, rate float64, edges ...string) {
	t := plan.Tree{Rate: rate, Parents: make([]int, len(p.Hosts))}
	for h := range t.Parents {
		t.Parents[h] = -1
	}
	for _, e := range edges {
		var from, to string
		if _, err := fmt.Sscan(e, &from, &to); err != nil {
			panic(err)
		}
		t.Parents[p.Index(to)] = p.Index(from)
	}
	p.Trees = append(p.Trees, t)
}

// hosts is a plan without trees for the nodes of a simulation, which are named such as A-1.
func hosts(c *Config) *plan.Plan {
	p := new(plan.Plan)
	for _, k := range c.Clusters {
		for n := range k.Nodes {
			p.Hosts, p.Clusters = append(p.Hosts, fmt.Sprintf("%s-%d", k.Name, n+1)), append(p.Clusters, k.Name)
		}
	}
	c.Hosts = slices.Clone(p.Hosts)
	return p
}

// chained plans a chain in the order of the nodes.
func chained(c *Config) *plan.Plan {
	p := hosts(c)
	parents := make([]int, len(p.Hosts))
	for h := range parents {
		parents[h] = h - 1
	}
	p.Trees = []plan.Tree{{Rate: 1, Parents: parents}}
	return p
}

// packed plans for four clusters of four with fast links, at the bound of 12 MB/s: two trees over AD and
// DA, and so on, found by hand.
func packed(c *Config) *plan.Plan {
	p := hosts(c)
	local := func(rate float64, between ...string) {
		edges := between
		entered := map[byte]string{'A': "A-1"}
		for _, e := range between {
			entered[e[4]] = e[4:]
		}
		for _, k := range "ABCD" {
			for n := 1; n <= 4; n++ {
				if host := fmt.Sprintf("%c-%d", k, n); host != entered[byte(k)] {
					edges = append(edges, entered[byte(k)]+" "+host)
				}
			}
		}
		tree(p, rate, edges...)
	}
	local(3e6, "A-1 B-1", "B-1 C-1", "B-1 D-1")
	local(3e6, "A-1 C-2", "C-2 B-2", "C-2 D-2")
	local(3e6, "A-1 D-3", "D-3 B-3", "B-3 C-3")
	local(3e6, "A-1 D-4", "D-4 C-4", "C-4 B-4")
	return p
}

// TestPlanned follows plans for clusters and for a chain, over links that are as the plans say.
func TestPlanned(t *testing.T) {
	long(t)
	r := median(t, func(seed uint64) Config {
		c := scenario(fast, 240e6, seed)
		c.Plan = packed(&c)
		return c
	})
	t.Log(r)
	oneCopy(t, "planned", r)
	if r.Share() < 0.88 {
		t.Errorf("share %.3f of the bound", r.Share())
	}
	r = median(t, func(seed uint64) Config {
		c := Config{Clusters: grid(20), NIC: 12.5e6, Length: 120e6, PieceLength: 256 << 10, Seed: seed}
		c.Plan = chained(&c)
		return c
	})
	t.Log(r)
	if r.Share() < 0.85 {
		t.Errorf("a chain: share %.3f", r.Share())
	}
}

// TestPlannedIsStatic slows links that a plan was made for. The transfer takes what the plan costs there,
// and does not turn into a swarm: of two trees of 60 MB each over a link of 0.8 MB/s.
func TestPlannedIsStatic(t *testing.T) {
	long(t)
	c := scenario(slow, 240e6, 1)
	c.Plan = packed(&c)
	r := run(t, c)
	t.Log(r)
	oneCopy(t, "slow", r)
	if least := 2 * 60e6 / 0.8e6; r.Time.Seconds() < 0.98*least {
		t.Errorf("%.1f s, and the plan takes %.1f s over these links", r.Time.Seconds(), least)
	}
}

// TestPlannedDeaths ends hosts that relay: openly, as when a process dies, or silently. Who has no parent any
// more steals, and no piece enters a cluster twice for it.
func TestPlannedDeaths(t *testing.T) {
	t.Parallel()
	for _, kills := range [][]Kill{
		{{Node: 4, At: 2 * time.Second}},
		{{Node: 9, At: 2 * time.Second, Silent: true}},
		{{Node: 12, At: 2 * time.Second}, {Node: 13, At: 3 * time.Second}},
		{{Node: 4, At: time.Second, Silent: true}, {Node: 9, At: 2 * time.Second}, {Node: 14, At: 2 * time.Second}},
	} {
		c := scenario(fast, 60e6, 1)
		c.Plan, c.Faults.Kills = packed(&c), kills
		r := run(t, c)
		oneCopy(t, fmt.Sprint(kills), r)
		if slowest := 4 * r.Ideal; r.Time > slowest {
			t.Errorf("%v: %v, want less than %v", kills, r.Time, slowest)
		}
	}
}

// TestPlannedAbsent makes hosts of the plan that never come, that come late, and that are not in it.
func TestPlannedAbsent(t *testing.T) {
	t.Parallel()
	c := scenario(fast, 60e6, 1)
	c.Plan = packed(&c)
	for h, name := range c.Plan.Hosts { // two nodes have other names, and two hosts never come
		if name == "B-1" || name == "C-3" {
			c.Plan.Hosts[h] = "other-" + name
		}
	}
	r := run(t, c)
	oneCopy(t, "absent", r)
	t.Log(r)
	c.Plan = packed(&c)
	c.Starts = map[int]time.Duration{4: 6 * time.Second, 14: 4 * time.Second}
	r = run(t, c)
	oneCopy(t, "late", r)
	t.Log(r)
	c.Plan, c.Starts = hosts(&c), nil // the clusters C and D are not in the plan
	c.Plan.Hosts, c.Plan.Clusters = c.Plan.Hosts[:8], c.Plan.Clusters[:8]
	tree(c.Plan, 3e6, "A-1 A-2", "A-1 A-3", "A-1 A-4", "A-1 B-1", "B-1 B-2", "B-2 B-3", "B-2 B-4")
	r = run(t, c)
	oneCopy(t, "outside", r)
	t.Log(r)
}

// TestPlannedHang makes the disk of a relay hang: it is there, answers pings, and gets nothing any more.
func TestPlannedHang(t *testing.T) {
	t.Parallel()
	c := scenario(fast, 60e6, 1)
	c.Plan, c.Faults.Hangs = packed(&c), map[int]int{4: 40}
	r := run(t, c)
	oneCopy(t, "hang", r)
	t.Log(r)
	if most := 6 * r.Ideal; r.Time > most {
		t.Errorf("%v, want less than %v", r.Time, most)
	}
}

// TestPlannedRacks follows a chain through racks, in order and not: it is followed even where the swarm would
// get a piece nearer.
func TestPlannedRacks(t *testing.T) {
	t.Parallel()
	for _, ordered := range []bool{true, false} {
		c := Config{
			Clusters: []Cluster{{"A/r1", 4}, {"A/r2", 4}, {"A/r3", 4}}, NIC: 12.5e6, Uplink: 12.5e6,
			Length: 60e6, PieceLength: 256 << 10, Seed: 1,
		}
		c.Plan = chained(&c)
		if !ordered {
			order := []int{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}
			for k, h := range order {
				if k > 0 {
					c.Plan.Trees[0].Parents[h] = order[k-1]
				}
			}
		}
		r := run(t, c)
		t.Log(ordered, r)
		for i, k := range r.RackCopies {
			want := []float64{0, 1, 1}[i]
			if !ordered {
				want = []float64{3, 4, 4}[i]
			}
			if k.Copies < want-0.05 || k.Copies > want+0.05 {
				t.Errorf("ordered %v: %.2f copies into %s, want %.0f", ordered, k.Copies, k.Cluster, want)
			}
		}
	}
}
