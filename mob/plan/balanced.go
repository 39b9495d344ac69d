package plan

import (
	"cmp"
	"math"
	"slices"
)

// balanced is Balanced Multicasting (den Burger et al., Balanced multicasting, 2005): the trees
// with all hosts that have the greatest sum of rates, by linear programming. Links and interfaces
// limit them, so what hosts relay does too. It begins with the trees of fpfr, so it is never below
// them.
func balanced(j *job) ([]Tree, error) {
	trees, err := fpfr(j)
	if err != nil {
		return nil, err
	}
	k := packer{job: j, nodes: len(j.at), way: j.way}
	return k.pack(trees, true)
}

// packer finds the best rates for trees over nodes: hosts, or sites.
type packer struct {
	*job
	nodes int
	// way returns the limits between two nodes, until the next call, and whether there is a way.
	way func(a, b int) ([]int32, bool)

	scale float64 // the highest rate, the unit of the program
	*packing
	found []Tree
}

// tolerance is the part of the greatest sum of rates that pack may miss.
const tolerance = 1e-6

// pack finds the rates of trees that have the greatest sum: of the given ones, or with all that
// there are. It generates columns (Ford and Fulkerson, 1958): the linear program knows some trees,
// and gives a price of each limit. The cheapest tree is added, unless no tree gains anything. Trees that reach the least min-cut stay as they are. With many hosts it may
// stop before the greatest sum, but never below the sum of the given trees.
func (k *packer) pack(trees []Tree, all bool) ([]Tree, error) {
	sum, most := 0.0, k.leastCut()
	for _, t := range trees {
		sum += t.Rate
	}
	if sum >= most*(1-tolerance) {
		return trees, nil
	}
	err := k.start(trees)
	if err == nil && all {
		err = k.generate(most)
	}
	if err != nil || k.sum()*k.scale < sum { // stopped at the work limit with a worse packing
		return trees, err
	}
	return k.rated(), nil
}

// generate adds trees until none gains anything, or the sum of the rates is that.
func (k *packer) generate(most float64) error {
	for k.sum() < most*(1-tolerance)/k.scale && !k.atLimit() {
		parents := arborescence(k.costs())
		k.work += 10 * float64(k.nodes) * float64(k.nodes)
		if k.gainOf(k.usesOf(parents)) <= tolerance {
			return nil
		}
		if err := k.addTree(parents); err != nil {
			return err
		}
		k.solve()
	}
	return nil
}

// leastCut returns the rate of the least min-cut of all hosts of the broadcast.
func (j *job) leastCut() float64 {
	cuts := j.cuts(int(j.at[0]))
	least := math.Inf(1)
	for _, h := range j.at[1:] {
		least = min(least, cuts[h].Rate)
	}
	return least
}

func (k *packer) start(trees []Tree) error {
	k.packing = newPacking()
	for _, l := range k.Network.limits {
		if !math.IsInf(l.rate, 1) {
			k.scale = max(k.scale, l.rate)
		}
	}
	for _, t := range trees {
		if err := k.addTree(t.Parents); err != nil {
			return err
		}
	}
	k.solve()
	return nil
}

func (k *packer) addTree(parents []int) error {
	uses := k.usesOf(parents)
	if len(uses) == 0 {
		return errUnlimited
	}
	if k.add(uses, func(l int32) float64 { return k.Network.limits[l].rate / k.scale }) {
		k.found = append(k.found, Tree{Parents: parents})
	}
	return nil
}

// usesOf returns how often a tree goes through each limit.
func (k *packer) usesOf(parents []int) []use {
	times := make([]int32, len(k.Network.limits))
	var uses []use
	for v, parent := range parents {
		if parent < 0 {
			continue
		}
		limits, _ := k.way(parent, v)
		for _, l := range limits {
			if times[l]++; times[l] == 1 {
				uses = append(uses, use{limit: l})
			}
		}
	}
	for i := range uses {
		uses[i].times = times[uses[i].limit]
	}
	return uses
}

// costs returns what it costs to send from each node to each other.
func (k *packer) costs() [][]float64 {
	const none = 1e9 // no tree of cost 1 or less takes a way that there is not
	const hop = 1e-9 // of ways that cost the same, the one with fewer limits
	price := make([]float64, len(k.Network.limits))
	for l, row := range k.rows {
		price[l] = max(0, k.price[row])
	}
	costs := make([][]float64, k.nodes)
	for a := range costs {
		costs[a] = slices.Repeat([]float64{none}, k.nodes)
		for b := 1; b < k.nodes; b++ {
			if a == b {
				continue
			}
			if limits, ok := k.way(a, b); ok {
				costs[a][b] = hop
				for _, l := range limits {
					costs[a][b] += price[l] + hop
				}
			}
		}
	}
	return costs
}

// rated returns the trees that have a rate. Together they fit all limits, with no rounding.
func (k *packer) rated() []Tree {
	var trees []Tree
	load := make([]float64, len(k.Network.limits))
	for i, rate := range k.rates() {
		if rate <= precision {
			continue
		}
		t := Tree{rate * k.scale, k.found[i].Parents}
		trees = append(trees, t)
		for _, u := range k.usesOf(t.Parents) {
			load[u.limit] += t.Rate * float64(u.times)
		}
	}
	over := 1.0
	for l, sum := range load {
		over = max(over, sum/k.Network.limits[l].rate)
	}
	for i := range trees {
		trees[i].Rate /= over
	}
	slices.SortStableFunc(trees, func(a, b Tree) int { return cmp.Compare(b.Rate, a.Rate) })
	return trees
}
