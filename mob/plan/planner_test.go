package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// boundOf is the rate of Edmonds' bound over hosts, or the sites of clusters, that links join
// directly. The first is the source.
func boundOf(t *Topology) float64 {
	var names []string
	for _, h := range t.Hosts {
		name := h.Name
		if h.Cluster != "" {
			name = proto.ClusterGroup(h.Cluster, 1)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	rates := ratesIn(t)
	const bytes = 1e6
	return bytes / Bound(len(names), bytes, func(a, b int, until time.Duration) float64 {
		return rates[names[a]+"-"+names[b]] * until.Seconds()
	}).Seconds()
}

func mustPlan(t testing.TB, n *Network, algorithm, source string) *Plan {
	t.Helper()
	p, err := n.Plan(algorithm, source, nil, 1)
	if err != nil {
		t.Fatalf("%s: %v", algorithm, err)
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("%s: %v", algorithm, err)
	}
	return p
}

// checkLoad requires no limit exceeded by the trees of a plan.
func checkLoad(t *testing.T, n *Network, algorithm string, p *Plan) {
	t.Helper()
	load := make([]float64, len(n.limits))
	for _, tree := range p.Trees {
		for h, parent := range tree.Parents {
			if parent < 0 {
				continue
			}
			limits, ok := n.route(int32(n.nodes[p.Hosts[parent]]), int32(n.nodes[p.Hosts[h]]), nil)
			if !ok {
				t.Fatalf("%s: no route from %s to %s", algorithm, p.Hosts[parent], p.Hosts[h])
			}
			for _, l := range limits {
				load[l] += tree.Rate
			}
		}
	}
	for l, sum := range load {
		if sum > n.limits[l].rate*(1+1e-9) {
			t.Fatalf("%s: %s carries %v of %v", algorithm, n.limitName(int32(l)), sum, n.limits[l].rate)
		}
	}
}

// checkAll runs every algorithm over a topology, and requires valid plans.
func checkAll(t *testing.T, topology *Topology) {
	t.Helper()
	n := network(t, topology)
	cuts, err := n.Cuts(topology.Hosts[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range Algorithms() {
		p, err := n.Plan(algorithm, topology.Hosts[0].Name, nil, 1)
		if err != nil {
			if msg := err.Error(); strings.Contains(msg, "nothing limits") || strings.Contains(msg, "no route") {
				continue
			}
			t.Fatalf("%s: %v", algorithm, err)
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("%s: %v", algorithm, err)
		}
		checkLoad(t, n, algorithm, p)
		rates, err := n.Rates(algorithm, p)
		if err != nil {
			t.Fatal(err)
		}
		for h := range p.Hosts[1:] {
			if cut := cuts[n.nodes[p.Hosts[h+1]]].Rate; rates[h+1] > cut*(1+1e-9) || !(rates[h+1] > 0) {
				t.Fatalf("%s: %s gets %v, its min-cut is %v", algorithm, p.Hosts[h+1], rates[h+1], cut)
			}
		}
	}
}

func TestPlansKeepTheLimits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		checkAll(t, drawTree(rng, 1+rng.IntN(6), 2+rng.IntN(10), i%2 == 0))
		checkAll(t, drawMesh(rng, 2+rng.IntN(4)))
		checkAll(t, drawHosts(rng, 2+rng.IntN(5), i%2 == 0))
	}
}

func FuzzPlansKeepTheLimits(f *testing.F) {
	for i := range uint64(3) {
		f.Add(i, i)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		rng := rand.New(rand.NewPCG(a, b))
		checkAll(t, drawTree(rng, 1+rng.IntN(12), 2+rng.IntN(25), a%2 == 0))
		checkAll(t, drawMesh(rng, 2+rng.IntN(8)))
		checkAll(t, drawHosts(rng, 2+rng.IntN(8), b%2 == 0))
	})
}

// TestRoundedRates makes plans for rates that are rounded to bytes. They are worth what those for the rates
// themselves are.
func TestRoundedRates(t *testing.T) {
	const share = 1448.0 / 1514
	topology := func(of func(float64) float64) *Topology {
		top := new(Topology)
		for _, cluster := range []string{"A", "B", "C", "D"} {
			for i := range 4 {
				nic := of(500e6 * share)
				top.Hosts = append(top.Hosts, Host{Name: fmt.Sprint(cluster, i), Cluster: cluster, Send: nic, Receive: nic})
			}
		}
		for _, l := range []Link{
			{A: "A", B: "B", AB: 3e6}, {A: "A", B: "C", AB: 3e6}, {A: "A", B: "D", AB: 6e6},
			{A: "B", B: "C", AB: 6e6}, {A: "B", B: "D", AB: 3e6}, {A: "C", B: "D", AB: 3e6},
		} {
			l.AB = of(l.AB * share)
			l.BA = l.AB
			top.Links = append(top.Links, l)
		}
		return top
	}
	exact, rounded := topology(func(r float64) float64 { return r }), topology(math.Round)
	rates := func(of *Topology, algorithm string) []float64 {
		n := network(t, of)
		rates, err := n.Rates(algorithm, mustPlan(t, n, algorithm, "A0"))
		if err != nil {
			t.Fatal(err)
		}
		return rates
	}
	for _, algorithm := range Algorithms() {
		want, got := rates(exact, algorithm), rates(rounded, algorithm)
		for h := range want {
			if math.Abs(got[h]-want[h]) > 1e-3*want[h] {
				t.Errorf("%s: host %d gets %.0f B/s, want %.0f", algorithm, h, got[h], want[h])
			}
		}
	}
}

// TestArborescence compares with all trees.
func TestArborescence(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		n := 2 + rng.IntN(5)
		cost := make([][]float64, n)
		for a := range cost {
			for range n {
				cost[a] = append(cost[a], float64(rng.IntN(6)))
			}
		}
		sum := func(parents []int) (all float64) {
			for v, p := range parents[1:] {
				all += cost[p][v+1]
			}
			return all
		}
		got := arborescence(cost)
		if (&Tree{Parents: got}).unreached() >= 0 {
			t.Fatalf("%v is not a tree: %v", got, cost)
		}
		for _, other := range spanning(n) {
			if sum(other) < sum(got) {
				t.Fatalf("%v costs %v, and %v %v: %v", got, sum(got), other, sum(other), cost)
			}
		}
	}
}

// TestFair requires each flow stopped by a limit that is full, in which none has more, or by what its
// sender gets; and no limit exceeded.
func TestFair(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		n := network(t, drawTree(rng, 1+rng.IntN(5), 2+rng.IntN(12), false))
		j, err := n.newJob("h0", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parents := drawPlan(rng, len(j.at), 1).Trees[0].Parents
		rates, err := j.fair(parents)
		if err != nil {
			t.Fatal(err)
		}
		load, most := make([]float64, len(j.limits)), make([]float64, len(j.limits))
		for h, p := range parents[1:] {
			limits, _ := j.way(p, h+1)
			for _, l := range limits {
				load[l] += rates[h+1]
				most[l] = max(most[l], rates[h+1])
			}
		}
		for l, sum := range load {
			if sum > j.limits[l].rate*(1+1e-9) {
				t.Fatalf("%s carries %v of %v", j.limitName(int32(l)), sum, j.limits[l].rate)
			}
		}
		for h, p := range parents[1:] {
			r := rates[h+1]
			limits, _ := j.way(p, h+1)
			full := slices.ContainsFunc(limits, func(l int32) bool {
				return load[l] > j.limits[l].rate*(1-1e-9) && r > most[l]*(1-1e-9)
			})
			if p > 0 && r > rates[p]*(1+1e-9) || !full && !(p > 0 && r > rates[p]*(1-1e-9)) {
				t.Fatalf("host %d gets %v of %d, which gets %v, and nothing limits it", h+1, r, p, rates[p])
			}
		}
	}
}

// TestChain requires the source's rack first and its site, and numbers by their size.
func TestChain(t *testing.T) {
	t.Parallel()
	topology := new(Topology)
	for _, h := range []string{"n10 B/r10", "n2 B/r2", "n11 A/r1", "n9 A/r1", "n100 A/r2", "src A/r1", "n1 B/r10", "n03 A/r2", "n3 A/r2"} {
		name, cluster, _ := strings.Cut(h, " ")
		topology.Hosts = append(topology.Hosts, Host{Name: name, Cluster: cluster, Send: 1})
	}
	topology.Links = []Link{{"A", "B", 1, 1}}
	n := network(t, topology)
	p := mustPlan(t, n, "chain", "src")
	var order []string
	for at := 0; at >= 0; {
		order = append(order, p.Hosts[at])
		at = slices.Index(p.Trees[0].Parents, at)
	}
	if got, want := strings.Join(order, " "), "src n9 n11 n03 n3 n100 n2 n1 n10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPlanFaults(t *testing.T) {
	t.Parallel()
	n := network(t, &Topology{Hosts: []Host{{Name: "a", Cluster: "A"}, {Name: "b", Cluster: "A"}, {Name: "c", Cluster: "A"}}})
	for _, c := range []struct {
		algorithm, source string
		to                []string
		want              string
	}{
		{"best", "a", nil, `unknown algorithm "best": use one of stable, fpfr`},
		{"flat", "A", nil, `the topology has no host "A"`},
		{"flat", "a", []string{"b", "d"}, `the topology has no host "d"`},
		{"flat", "a", []string{"b", "b"}, "duplicate host b"},
		{"flat", "a", []string{"a"}, "duplicate host a, or it is the source"},
		{"flat", "a", []string{}, "there is no host to send to"},
		{"flat", "a", nil, "nothing limits the rates"},
		{"stable", "a", nil, "nothing limits the rates"},
		{"balanced", "a", nil, "nothing limits the rates"},
		{"edmonds", "a", nil, "nothing limits the rates"},
	} {
		if _, err := n.Plan(c.algorithm, c.source, c.to, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s from %s to %v: %v, want %s", c.algorithm, c.source, c.to, err, c.want)
		}
	}
}

// TestManyHosts requires a plan of 10,000 hosts, or an error that says how many can be planned for.
func TestManyHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("plans for 10,000 hosts")
	}
	t.Parallel()
	topology := new(Topology)
	for i := range maxHosts {
		cluster := fmt.Sprintf("c%d", i%100)
		topology.Hosts = append(topology.Hosts, Host{Name: fmt.Sprint("h", i), Cluster: cluster, Send: 5, Receive: 5})
		if i < 100 {
			topology.Links = append(topology.Links, Link{cluster, "core", 7, 7})
		}
	}
	topology.Switches = []string{"core"}
	n := network(t, topology)
	for _, a := range algorithms() {
		p, err := n.Plan(a.name, "h0", nil, 0)
		switch {
		case a.most < maxHosts:
			if err == nil || !strings.Contains(err.Error(), "10000 hosts are too many for "+a.name) {
				t.Errorf("%s: %v", a.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", a.name, err)
		default:
			checkLoad(t, n, a.name, p)
		}
	}
}

// BenchmarkPlan400 plans for 400 hosts in a tree of switches.
func BenchmarkPlan400(b *testing.B) {
	for _, symmetric := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(1, 2))
		topology := drawTree(rng, 40, 400, symmetric)
		for i := range topology.Hosts {
			topology.Hosts[i].Send, topology.Hosts[i].Receive = 0, 0
		}
		for i := range topology.Links {
			l := &topology.Links[i]
			if l.AB = 100 + 900*rng.Float64(); l.A == "h0" {
				l.AB = 1000
			}
			if l.BA = l.AB; !symmetric {
				l.BA = 100 + 900*rng.Float64()
			}
		}
		for _, algorithm := range Algorithms() {
			b.Run(fmt.Sprintf("%s/symmetric=%v", algorithm, symmetric), func(b *testing.B) {
				trees := 0
				for b.Loop() {
					trees = len(mustPlan(b, network(b, topology), algorithm, "h0").Trees)
				}
				b.ReportMetric(float64(trees), "trees")
			})
		}
	}
}
