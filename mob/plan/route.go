package plan

import "sort"

// Route says which tree of a plan a piece takes to a host. The pieces are shared out among all
// trees in proportion to their rates, and so is any run of them, nearly.
//
// Trees may omit hosts. Pieces of a tree reach the hosts that it omits through
// the trees before it, also in proportion to their rates (Takahashi et al., A stable broadcast
// algorithm, 2008, algorithm 2). So a piece has a chain of trees, each earlier in the plan than
// the one before, and a host gets the piece through the first of them that it is in. Its parent
// in that tree is in it too, and gets the piece through the same tree, or a former one of the
// chain: so parents always lead to the source.
//
// A Route does not change, and is safe for concurrent use. All hosts work out the same one, since
// nothing in it depends on how a machine computes.
type Route struct {
	trees []Tree
	sums  []float64 // sums[k] is the rate of the first k trees
}

// Route returns the route of a plan, which must be valid: see Validate. It keeps the plan's trees.
func (p *Plan) Route() *Route {
	r := &Route{trees: p.Trees, sums: make([]float64, len(p.Trees)+1)}
	for k, t := range p.Trees {
		r.sums[k+1] = r.sums[k] + t.Rate
	}
	return r
}

// Parent returns the host that sends a piece to a host, or -1 for the source, and for a host that is not in the plan.
func (r *Route) Parent(host, piece int) int {
	tree, _ := r.Tree(host, piece)
	if tree < 0 {
		return -1
	}
	return r.trees[tree].Parents[host]
}

// Tree returns the tree through which a host gets a piece, and in which stage of the broadcast, from 0 to the
// number of trees less one. A parent gets a piece in the same stage as the host or earlier. The tree is
// -1 for the source, and for a host that is not in the plan.
func (r *Route) Tree(host, piece int) (tree, stage int) {
	if len(r.trees) == 0 || host < 0 || host >= len(r.trees[0].Parents) || r.trees[0].Parents[host] < 0 {
		return -1, 0
	}
	for k, x := len(r.trees), spread(piece); ; k = tree {
		tree, x = r.draw(k, x)
		if tree == 0 || r.trees[tree].Parents[host] >= 0 {
			return tree, len(r.trees) - k
		}
	}
}

// draw returns the one of the first k trees that has x, if each has a part of [0, 1) as long as
// its share of their rates; and where in that part x is, from 0 to 1.
func (r *Route) draw(k int, x float64) (tree int, rest float64) {
	x = float64(x * r.sums[k]) // the conversion keeps machines from fusing it with what follows
	tree = min(sort.Search(k, func(t int) bool { return r.sums[t+1] > x }), k-1)
	return tree, max(0, x-r.sums[tree]) / r.trees[tree].Rate
}

// spread maps the pieces to [0, 1) so that any run of them is spread evenly: the multiples of
// the golden ratio (Knuth, The art of computer programming, volume 3, section 6.4).
func spread(piece int) float64 {
	const golden = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
	return float64(uint64(piece)*golden>>11) / (1 << 53)
}
