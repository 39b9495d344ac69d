package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// spanning lists all trees over n nodes with their parents.
func spanning(n int) [][]int {
	var all [][]int
	parents := make([]int, n)
	parents[0] = -1
	var choose func(v int)
	choose = func(v int) {
		if v == n {
			if t := (&Tree{Parents: parents}); t.unreached() < 0 {
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
		k := packer{job: j, nodes: hosts, way: j.way}
		if err := k.start(nil); err != nil {
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

// TestBalancedOfTooManyLimits requires what fpfr plans where the linear program would be too large.
func TestBalancedOfTooManyLimits(t *testing.T) {
	t.Parallel()
	p := newPacking()
	var uses []use
	for l := range int32(maxRows + 1) {
		uses = append(uses, use{l, 1})
	}
	if p.add(uses, func(int32) float64 { return 1 }) || !p.atLimit() || len(p.trees) > 0 {
		t.Error("a tree of too many limits was added")
	}
}
