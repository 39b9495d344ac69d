package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// SetLinks has later AllReduce calls of long vectors send more over faster links between clusters. Without it all links carry the
// same. It is an operation like the other ones, and the rates at rank 0 count. Rate returns the rate of the link between two
// clusters, in any unit, and 0 if there is none.
func (c *Comm) SetLinks(ctx context.Context, rate func(a, b string) float64) error {
	var b []byte
	if c.rank == 0 {
		trees, err := spanningTrees(len(c.groups), c.links(rate))
		if err != nil {
			c.fail(err)
			return c.err()
		}
		b = encodeTrees(trees)
	}
	b, err := c.Broadcast(ctx, 0, b)
	if err != nil {
		return err
	}
	if c.trees, err = parseTrees(b, len(c.groups)); err != nil {
		c.fail(err)
		return c.err()
	}
	return nil
}

// links returns the links between all clusters.
func (c *Comm) links(rate func(a, b string) float64) (all []link) {
	name := func(i int) string { return c.roster.Members[c.groups[i][0]].Cluster }
	for a := range c.groups {
		for b := range a {
			all = append(all, link{a: a, b: b, rate: rate(name(b), name(a))})
		}
	}
	return all
}

// tree is the clusters over which the values of a unit merge: the parent of each. The home is its own parent.
type tree []int

// home returns the cluster in which the values of all clusters have merged.
func (t tree) home() int {
	for i, parent := range t {
		if i == parent {
			return i
		}
	}
	return -1
}

// link joins two clusters.
type link struct {
	a, b int
	rate float64
	load float64 // number of trees that it is in
}

// busy is the time that one more tree would keep the link busy.
func (l *link) busy() float64 { return (l.load + 1) / l.rate }

// treeCount is the number of trees that share the units of a vector: enough to use links in the ratio of their rates.
const treeCount = 16

// spanningTrees returns trees such that each link is in about as many as its rate allows: each is the minimum spanning tree for the
// times that the links are busy with the trees before (the method of Garg and Könemann for fractional packing, with linear lengths).
func spanningTrees(clusters int, links []link) (trees []tree, _ error) {
	for range treeCount {
		slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.busy(), b.busy()) })
		parts, neighbors := make([]int, clusters), make([][]int, clusters)
		for i := range parts {
			parts[i] = i
		}
		for i := range links {
			l := &links[i]
			joined, other := parts[l.a], parts[l.b]
			if joined == other || l.rate <= 0 {
				continue
			}
			l.load++
			neighbors[l.a], neighbors[l.b] = append(neighbors[l.a], l.b), append(neighbors[l.b], l.a)
			for k, part := range parts {
				if part == other {
					parts[k] = joined
				}
			}
		}
		if slices.Max(parts) != slices.Min(parts) {
			return nil, errors.New("the links do not connect all clusters")
		}
		trees = append(trees, lowest(neighbors))
	}
	return trees, nil
}

// lowest returns the tree of least height with the given neighbors.
func lowest(neighbors [][]int) (best tree) {
	least := len(neighbors)
	for home := range neighbors {
		t := make(tree, len(neighbors))
		t[home] = home
		if height := t.grow(home, neighbors); height < least {
			best, least = t, height
		}
	}
	return best
}

// grow sets the parents of all clusters below one, and returns the height of that part of the tree.
func (t tree) grow(top int, neighbors [][]int) (height int) {
	for _, i := range neighbors[top] {
		if i != t[top] {
			t[i] = top
			height = max(height, 1+t.grow(i, neighbors))
		}
	}
	return height
}

// encodeTrees returns the parents of all trees, a byte for each.
func encodeTrees(trees []tree) (b []byte) {
	for _, t := range trees {
		for _, parent := range t {
			b = append(b, byte(parent))
		}
	}
	return b
}

// parseTrees reads the parents of all trees, a byte for each.
func parseTrees(b []byte, clusters int) (trees []tree, _ error) {
	for parents := range slices.Chunk(b, clusters) {
		t := make(tree, len(parents))
		for i, parent := range parents {
			t[i] = int(parent)
		}
		if len(t) != clusters || !t.connected() {
			return nil, fmt.Errorf("trees of %d clusters: %w", clusters, errFrame)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// connected reports whether all clusters lead to one home.
func (t tree) connected() bool {
	for i := range t {
		for range t {
			if i >= len(t) {
				return false
			}
			i = t[i]
		}
		if i != t.home() {
			return false
		}
	}
	return true
}
