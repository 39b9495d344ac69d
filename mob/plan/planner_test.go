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

// checkLoad wants no limit exceeded by the trees of a plan.
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

// checkAll runs every algorithm over a topology, and wants plans that are sound.
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

// TestStableIsOptimal wants each host to get its min-cut in trees that are the same both ways.
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

// TestStableIsStable adds destinations one by one, and wants those before to get no less.
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

// TestEdmondsReachesTheBound wants the sum of the trees to be the bound in meshes.
func TestEdmondsReachesTheBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		topology := drawMesh(rng, 2+rng.IntN(6))
		if slices.ContainsFunc(topology.Links, func(l Link) bool { return l.AB == 0 }) || !fullMesh(topology) {
			continue
		}
		n, sum := network(t, topology), 0.0
		for _, tree := range mustPlan(t, n, "edmonds", topology.Hosts[0].Name).Trees {
			sum += tree.Rate
		}
		if want := boundOf(topology); math.Abs(sum-want) > 1e-5*want {
			t.Fatalf("the trees have %v, the bound is %v: %+v", sum, want, topology)
		}
	}
}

// fullMesh reports whether every two clusters of a topology have a link.
func fullMesh(t *Topology) bool {
	n := len(slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, h := range t.Hosts {
			if !yield(h.Cluster) {
				return
			}
		}
	})))
	return len(t.Links) == n*(n-1)/2
}

// spanning lists all trees over n nodes with their parents.
func spanning(n int) [][]int {
	var all [][]int
	parents := make([]int, n)
	parents[0] = -1
	var choose func(v int)
	choose = func(v int) {
		if v == n {
			if t := (&Tree{Parents: parents}); t.astray() < 0 {
				all = append(all, slices.Clone(parents))
			}
			return
		}
		for parents[v] = range n {
			if parents[v] != v {
				choose(v + 1)
			}
		}
	}
	choose(1)
	return all
}

// TestBalancedIsOptimal proves, by the duality of linear programming, that no rates of any trees
// have a greater sum: prices for which every tree there is costs 1 or more, and all there is to
// sell costs no more than what was planned.
func TestBalancedIsOptimal(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range 150 {
		hosts := 2 + rng.IntN(4)
		topology := drawHosts(rng, hosts, i%2 == 0)
		if i%3 == 0 {
			topology = drawTree(rng, 1+rng.IntN(4), hosts, false)
		}
		n := network(t, topology)
		j, err := n.newJob("h0", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		k := packer{job: j, nodes: hosts, way: j.ways}
		if err := k.begin(nil); err != nil {
			t.Fatal(err)
		}
		if err := k.generate(math.Inf(1)); err != nil {
			t.Fatal(err)
		}
		trees := k.rated()
		sum, least, fast := 0.0, 0.0, 0.0
		for _, tree := range trees {
			sum += tree.Rate
		}
		for l, row := range k.rows {
			least += max(0, k.price[row]) * n.limits[l].rate
		}
		if math.Abs(sum-least) > 1e-5*least {
			t.Fatalf("the trees have %v, what limits them costs %v: %+v", sum, least, topology)
		}
		for _, parents := range spanning(hosts) {
			if slices.ContainsFunc(parents[1:], func(p int) bool { return p < 0 }) || !routed(j, parents) {
				continue
			}
			if gain := k.gainOf(k.usesOf(parents)); gain > 1e-5 {
				t.Fatalf("tree %v would gain %v: %+v", parents, gain, topology)
			}
		}
		for _, tree := range mustPlan(t, n, "fpfr", "h0").Trees {
			fast += tree.Rate
		}
		total := 0.0
		for _, tree := range mustPlan(t, n, "balanced", "h0").Trees {
			total += tree.Rate
		}
		if math.Abs(total-sum) > 1e-5*sum || total < fast*(1-1e-9) {
			t.Fatalf("balanced has %v, the best %v, fpfr %v", total, sum, fast)
		}
	}
}

func routed(j *job, parents []int) bool {
	_, err := j.uses(parents)
	return err == nil
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
		if (&Tree{Parents: got}).astray() >= 0 {
			t.Fatalf("%v is no tree: %v", got, cost)
		}
		for _, other := range spanning(n) {
			if sum(other) < sum(got) {
				t.Fatalf("%v costs %v, and %v %v: %v", got, sum(got), other, sum(other), cost)
			}
		}
	}
}

// TestFair wants each flow stopped by a limit that is full, in which none has more, or by what its
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

// TestChain wants the source's rack first and its site, and numbers by their size.
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
		{"flat", "a", []string{"b", "b"}, "host b is given twice"},
		{"flat", "a", []string{"a"}, "host a is given twice, or is the source"},
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

// TestManyHosts wants a plan of 10,000 hosts, or an error that says how many can be planned for.
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

// TestEdmondsWithInterfaces has sites whose hosts send and receive hardly more than the bound: the
// trees must spread what leaves a site over its hosts.
func TestEdmondsWithInterfaces(t *testing.T) {
	t.Parallel()
	topology := new(Topology)
	for _, c := range "ABCD" {
		for h := range 4 {
			host := Host{Name: fmt.Sprintf("%c%d", c, h), Cluster: string(c), Send: 12.5, Receive: 12.5}
			topology.Hosts = append(topology.Hosts, host)
		}
	}
	for _, l := range []string{"AB3", "AC3", "AD6", "BC6", "BD3", "CD3"} {
		r := float64(l[2] - '0')
		topology.Links = append(topology.Links, Link{l[:1], l[1:2], r, r})
	}
	n := network(t, topology)
	p, sum := mustPlan(t, n, "edmonds", "A0"), 0.0
	for _, tree := range p.Trees {
		sum += tree.Rate
	}
	if math.Abs(sum-12) > 1e-6 {
		t.Errorf("the trees have %v, the bound is 12", sum)
	}
	checkLoad(t, n, "edmonds", p)
}

func TestEdmondsOfManySites(t *testing.T) {
	t.Parallel()
	topology := &Topology{Switches: []string{"core"}}
	for i := range maxSites + 1 {
		topology.Hosts = append(topology.Hosts, Host{Name: fmt.Sprint("h", i)})
		topology.Links = append(topology.Links, Link{fmt.Sprint("h", i), "core", 1, 1})
	}
	_, err := network(t, topology).Plan("edmonds", "h0", nil, 0)
	if want := "65 sites are too many for edmonds, which plans for at most 64"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestBalancedOfTooManyLimits wants what fpfr plans where the linear program would be too large.
func TestBalancedOfTooManyLimits(t *testing.T) {
	t.Parallel()
	p := newPacking()
	var uses []use
	for l := range int32(maxRows + 1) {
		uses = append(uses, use{l, 1})
	}
	if p.add(uses, func(int32) float64 { return 1 }) || !p.tired() || len(p.trees) > 0 {
		t.Error("a tree of too many limits was added")
	}
}
