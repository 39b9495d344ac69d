package collective

import "slices"

// plan selects the members that merge the values of an operation. The values consist of units. Each unit merges in each cluster at one member, the
// owner; then the clusters' values merge at its homes.
type plan struct {
	groups [][]int // ranks by cluster
	name   opName
	root   int
	units  int
	unit   int // size in bytes, 0 if units are entire values
	rows   int // of units that have the same home in an AllReduce
	small  bool
}

const (
	// maxSmall is the longest vector that merges entire, in bytes.
	maxSmall = 32 << 10
)

// newPlan returns the plan of an operation on vectors of a size. Elem is 0 if values merge entire.
func newPlan(name opName, root, size, elem int, groups [][]int) *plan {
	p := &plan{groups: groups, name: name, root: root, units: 1}
	most, members := 0, 0
	for _, ranks := range groups {
		most = max(most, len(ranks))
		members += len(ranks)
	}
	p.rows = most
	switch {
	case name == opShuffle:
		p.units, p.rows = members, members
	case elem == 0 || size <= maxSmall:
		p.small = true
	default:
		cells := most * len(groups)
		p.unit = min((size+cells-1)/cells, maxData)
		p.unit = min((p.unit+elem-1)/elem*elem, maxData/elem*elem)
		p.units = (size + p.unit - 1) / p.unit
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

// homes returns the members that merge the clusters' values of a unit.
func (p *plan) homes(u int) []int {
	switch {
	case p.name == opShuffle:
		return []int{u}
	case p.name == opReduce:
		return []int{p.owner(clusterOf(p.groups, p.root), u)}
	case p.small:
		return p.owners(u)
	}
	return []int{p.owner(p.homeCluster(u), u)}
}

func (p *plan) homeCluster(u int) int { return u / p.rows % len(p.groups) }

// owners returns the owner of a unit in each cluster.
func (p *plan) owners(u int) []int {
	all := make([]int, len(p.groups))
	for cluster := range all {
		all[cluster] = p.owner(cluster, u)
	}
	return all
}

// reads reports whether a member needs the final value of a unit.
func (p *plan) reads(u, rank int) bool {
	return p.name == opAllReduce || p.name == opReduce && rank == p.root || p.name == opShuffle && rank == u
}

// targets returns the receivers of the final value of a unit from a member. Homes send it to the owners in clusters with readers, and these
// to the readers of their cluster.
func (p *plan) targets(u, rank int) (to []int) {
	homes := p.homes(u)
	for i, ranks := range p.groups {
		owner := p.owner(i, u)
		for _, reader := range ranks {
			switch far := owner != rank; {
			case reader == rank || !p.reads(u, reader):
			case !far:
				to = append(to, reader)
			case homes[0] == rank && len(homes) == 1 && !slices.Contains(to, owner):
				to = append(to, owner)
			}
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
		return u/p.rows/n*n + (clusterOf(p.groups, p.homes(u)[0])-cluster-1+n)%n
	}
	slices.SortStableFunc(units, func(a, b int) int { return key(a) - key(b) })
	return units
}
