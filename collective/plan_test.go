package collective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Each unit is merged from all members, reaches every member that reads it, and leaves each cluster once before it is merged and
// once after that.
func TestPlans(t *testing.T) {
	shapes := [][]int{{1}, {4}, {1, 1}, {4, 4, 4, 4}, {3, 1, 2}, {1, 5}, {2, 2, 3, 1, 7}}
	for _, shape := range shapes {
		var groups [][]int
		members := 0
		for _, n := range shape {
			ranks := make([]int, n)
			for i := range ranks {
				ranks[i] = members + i
			}
			groups, members = append(groups, ranks), members+n
		}
		trees, err := spanningTrees(len(groups), randomLinks(len(groups)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []opName{opReduce, opAllReduce, opShuffle} {
			for _, size := range []int{0, 800, 32 << 10, 800_000, 40_000_000} {
				if name == opShuffle && size > 0 {
					continue
				}
				t.Run(fmt.Sprint(shape, name, size), func(t *testing.T) {
					checkPlan(t, newPlan(name, members-1, size, 8, groups, trees), groups, members, size)
				})
			}
		}
	}
}

func checkPlan(t *testing.T, p *plan, groups [][]int, members, size int) {
	t.Helper()
	leaves := make([]int, len(groups)) // values that leave a cluster
	if units := p.units * p.unit; p.unit > 0 && (units < size || units-p.unit >= size || p.unit%8 != 0 || p.unit > maxData) {
		t.Fatalf("%d units of %d bytes for %d", p.units, p.unit, size)
	}
	for u := range p.units {
		cross := func(from, to int) {
			if a := clusterOf(groups, from); a != clusterOf(groups, to) {
				leaves[a]++
			}
		}
		var homes []int
		for c, ranks := range groups {
			owner, next := p.owner(c, u), p.next(c, u)
			if !slices.Contains(ranks, owner) && p.name != opShuffle {
				t.Fatalf("unit %d: owner %d is not of cluster %d", u, owner, c)
			}
			if len(next) == 0 || p.flat {
				homes = append(homes, owner)
				merged := merges(p, c, u)
				slices.Sort(merged)
				if len(slices.Compact(merged)) != len(groups) {
					t.Errorf("unit %d: clusters %v merge in cluster %d", u, merged, c)
				}
			}
			if len(next) > 1 && !p.flat {
				t.Errorf("unit %d leaves cluster %d %d times", u, c, len(next))
			}
			for _, to := range next {
				cross(owner, to)
				if to := clusterOf(groups, to); !slices.Contains(p.sources(to, u), c) {
					t.Errorf("unit %d: cluster %d does not merge the value of cluster %d", u, to, c)
				}
			}
		}
		copies := make([]int, members) // of the final value
		todo := slices.Clone(homes)
		for _, home := range homes {
			copies[home]++
		}
		for len(todo) > 0 {
			for _, to := range p.targets(u, todo[0]) {
				cross(todo[0], to)
				if copies[to]++; copies[to] == 1 {
					todo = append(todo, to)
				}
			}
			todo = todo[1:]
		}
		for rank, n := range copies {
			if n > 1 || p.reads(u, rank) && n == 0 {
				t.Errorf("unit %d: member %d receives it %d times", u, rank, n)
			}
		}
	}
	most := p.units
	switch {
	case p.flat:
		most = len(groups) - 1
	case p.name == opAllReduce && len(p.trees) == len(groups):
		most = 2 * (p.units*(len(groups)-1)/len(groups) + p.rows*(len(groups)-1))
	case p.name == opAllReduce: // on trees of links with other rates
		most = p.units * len(groups)
	}
	for c, n := range leaves {
		if n > most {
			t.Errorf("%d values leave cluster %d, want at most %d of %d units", n, c, most, p.units)
		}
	}
	order := p.order(0)
	slices.Sort(order)
	for u := range p.units {
		if order[u] != u {
			t.Fatalf("unit %d is not sent", u)
		}
	}
}

// merges returns the clusters whose values have merged in a cluster once its value is complete.
func merges(p *plan, cluster, u int) (all []int) {
	for _, i := range p.sources(cluster, u) {
		if i == cluster || p.flat {
			all = append(all, i)
		} else {
			all = append(all, merges(p, i, u)...)
		}
	}
	return all
}

func randomLinks(clusters int) (all []link) {
	draw := rand.New(rand.NewPCG(1, 2))
	for a := range clusters {
		for b := range a {
			all = append(all, link{a: a, b: b, rate: 1 + 9*draw.Float64()})
		}
	}
	return all
}

// The trees use the links of the grid "fast" equally long: 8 MB/s of values cross them.
func TestTreesUseFasterLinksMore(t *testing.T) {
	links := []link{{a: 1, b: 0, rate: 3}, {a: 2, b: 0, rate: 3}, {a: 3, b: 0, rate: 6}, {a: 2, b: 1, rate: 6}, {a: 3, b: 1, rate: 3}, {a: 3, b: 2, rate: 3}}
	trees, err := spanningTrees(4, links)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if n := treeCount * l.rate / 8; math.Abs(l.load-n) > 1 {
			t.Errorf("%.0f trees use the link of %d and %d, want %.1f", l.load, l.a, l.b, n)
		}
	}
	read, err := parseTrees(encodeTrees(trees), 4)
	if err != nil || !reflect.DeepEqual(read, trees) {
		t.Errorf("read %v, %v, want %v", read, err, trees)
	}
}

func TestTreesOfUnconnectedClusters(t *testing.T) {
	if trees, err := spanningTrees(3, []link{{a: 1, b: 0, rate: 1}, {a: 2, b: 0}, {a: 2, b: 1}}); err == nil {
		t.Errorf("trees %v without a link to cluster 2", trees)
	}
}

func TestInvalidTrees(t *testing.T) {
	for _, b := range []string{"\x00\x00", "\x00\x01\x02", "\x01\x02\x02\x00", "\x00\x02\x01", "\x00\x00\x03", "\x00\x02\x03\x01"} {
		if trees, err := parseTrees([]byte(b), 3); err == nil {
			t.Errorf("trees %v from %q", trees, b)
		}
	}
	if trees, err := parseTrees([]byte("\x00\x00\x01\x01\x01\x01"), 3); err != nil || len(trees) != 2 {
		t.Errorf("trees %v, %v", trees, err)
	}
}

func TestMergerKeepsOrder(t *testing.T) {
	concat := Op{Merge: func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }}
	m := &merger{values: make([][]byte, 4)}
	for _, i := range []int{2, 0, 3, 1} {
		done, err := m.add(i, []byte{byte('a' + i)}, concat)
		if err != nil || done != (i == 1) {
			t.Errorf("value %d: %v, %v", i, done, err)
		}
	}
	if string(m.merged) != "abcd" {
		t.Errorf("merged %q", m.merged)
	}
	if _, err := m.add(1, nil, concat); err == nil {
		t.Error("a value was merged twice")
	}
}
