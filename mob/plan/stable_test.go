package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStableIsOptimal requires each host to get its min-cut in trees that are the same both ways.
func TestStableIsOptimal(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		topology := drawTree(rng, 1+rng.IntN(10), 2+rng.IntN(30), true)
		for i := range topology.Hosts {
			topology.Hosts[i].Send = topology.Hosts[i].Receive
		}
		n := network(t, topology)
		cuts, err := n.Cuts("h0")
		if err != nil {
			t.Fatal(err)
		}
		p := mustPlan(t, n, "stable", "h0")
		for h, r := range p.Rates()[1:] {
			if want := cuts[n.nodes[p.Hosts[h+1]]].Rate; math.Abs(r-want) > 1e-6*want {
				t.Fatalf("%s gets %v, its min-cut is %v: %+v", p.Hosts[h+1], r, want, topology)
			}
		}
	}
}

// TestStableIsStable adds destinations one by one, and requires those before to get no less.
func TestStableIsStable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		n := network(t, drawTree(rng, 1+rng.IntN(8), 12, true))
		before := make(map[string]float64)
		var to []string
		for _, h := range rng.Perm(11) {
			to = append(to, fmt.Sprint("h", h+1))
			p, err := n.Plan("stable", "h0", to, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range p.Rates()[1:] {
				if name := p.Hosts[i+1]; r < before[name]*(1-1e-9) {
					t.Fatalf("%s gets %v with %d destinations, and got %v", name, r, len(to), before[name])
				} else {
					before[name] = r
				}
			}
		}
	}
}

// TestSlowHostIsLeaf plans for a switch with a slow host, whatever its place is in the topology: it sends to no other host, and
// the remaining hosts get the full rate.
func TestSlowHostIsLeaf(t *testing.T) {
	for slow := 1; slow < 6; slow++ {
		topology := &Topology{}
		for h := range 6 {
			rate := 9e6
			if h == slow {
				rate = 4.7e6
			}
			topology.Hosts = append(topology.Hosts, Host{Name: fmt.Sprint("n", h), Cluster: "A", Send: rate, Receive: rate})
		}
		p := mustPlan(t, network(t, topology), "stable", "n0")
		for _, tree := range p.Trees {
			if slices.Contains(tree.Parents, slow) {
				t.Errorf("host %d is slow, and relays: %v", slow, tree)
			}
		}
		if got := p.Rates(); math.Abs(got[slow%5+1]-9e6) > 1 || math.Abs(got[slow]-4.7e6) > 1 {
			t.Errorf("host %d is slow: rates %v", slow, got)
		}
	}
}
