package collective

import "slices"

// plan selects the members that merge the values of an operation. The values consist of units. Each unit merges in each cluster at one member, the
// owner; then the owners' values merge along a tree of the clusters. A short vector of an AllReduce merges at all owners instead.
type plan struct {
	groups [][]int // ranks by cluster
	name   opName
	root   int
	units  int
	unit   int // size in bytes, 0 if units are entire values
	rows   int // of units that have the same tree in an AllReduce
	trees  []tree
	stars  []tree // by home
	flat   bool   // an AllReduce whose unit merges at its owner in each cluster
}

const (
	// maxSmall is the longest vector that merges entire, in bytes.
	maxSmall = 32 << 10
	// cycles is the least number of times that a vector uses each tree of SetLinks. A shorter one would lose more by a second step
	// between clusters than it would gain by faster links.
	cycles = 4
)

// newPlan returns the plan of an operation on vectors of a size. Elem is 0 if values merge entire. SetLinks makes the trees.
func newPlan(name opName, root, size, elem int, groups [][]int, trees []tree) *plan {
	p := &plan{groups: groups, name: name, root: root, units: 1}
	most, members := 0, 0
	for i, ranks := range groups {
		most = max(most, len(ranks))
		members += len(ranks)
		p.stars = append(p.stars, slices.Repeat(tree{i}, len(groups)))
	}
	p.rows = most
	switch {
	case name == opShuffle:
		p.units, p.rows = members, members
	case elem == 0 || size <= maxSmall:
		p.flat = name == opAllReduce
	default:
		cells := most * len(groups)
		p.unit = min((size+cells-1)/cells, maxData)
		p.unit = min((p.unit+elem-1)/elem*elem, maxData/elem*elem)
		p.units = (size + p.unit - 1) / p.unit
	}
	if p.trees = p.stars; len(trees) > 0 && p.units >= cycles*len(trees)*p.rows {
		p.trees = trees
	}
	return p
}

// owner returns the member of a cluster that merges a unit there.
func (p *plan) owner(cluster, u int) int {
	ranks := p.groups[cluster]
	if p.name == opShuffle && clusterOf(p.groups, u) == cluster {
		return u
	}
	return ranks[u%len(ranks)]
}

// tree returns the clusters over which the values of a unit merge, unless the plan is flat.
func (p *plan) tree(u int) tree {
	switch p.name {
	case opShuffle:
		return p.stars[clusterOf(p.groups, u)]
	case opReduce:
		return p.stars[clusterOf(p.groups, p.root)]
	default:
		return p.trees[u/p.rows%len(p.trees)]
	}
}

// sources returns the clusters whose values of a unit merge at its owner in a cluster, in the order in which they merge.
func (p *plan) sources(cluster, u int) (from []int) {
	t := p.tree(u)
	for i := range t {
		if p.flat || i == cluster || t[i] == cluster {
			from = append(from, i)
		}
	}
	return from
}

// next returns the owners that the owner in a cluster sends the value of a unit to: before the values of other clusters are merged into
// it in a flat plan, else afterwards. The home has none.
func (p *plan) next(cluster, u int) (to []int) {
	parent := p.tree(u)[cluster]
	for i := range p.groups {
		if i != cluster && (p.flat || i == parent) {
			to = append(to, p.owner(i, u))
		}
	}
	return to
}

// reads reports whether a member needs the final value of a unit.
func (p *plan) reads(u, rank int) bool {
	return p.name == opAllReduce || p.name == opReduce && rank == p.root || p.name == opShuffle && rank == u
}

// targets returns the receivers of the final value of a unit from a member. Owners in clusters with readers send it to the owners
// below, and to the readers of their cluster.
func (p *plan) targets(u, rank int) (to []int) {
	cluster := clusterOf(p.groups, rank)
	if p.owner(cluster, u) != rank {
		return nil
	}
	if p.name == opAllReduce && !p.flat {
		for i, parent := range p.tree(u) {
			if i != cluster && parent == cluster {
				to = append(to, p.owner(i, u))
			}
		}
	}
	for _, reader := range p.groups[cluster] {
		if reader != rank && p.reads(u, reader) {
			to = append(to, reader)
		}
	}
	return to
}

// order returns the units in the order in which the members of a cluster send them: each cluster starts with another home, so
// that all links between clusters are in use. The pipeline of an AllReduce advances on all of them.
func (p *plan) order(cluster int) []int {
	units := make([]int, p.units)
	for u := range units {
		units[u] = u
	}
	key := func(u int) int {
		n := len(p.groups)
		return u/p.rows/n*n + (p.tree(u).home()-cluster-1+n)%n
	}
	slices.SortStableFunc(units, func(a, b int) int { return key(a) - key(b) })
	return units
}
