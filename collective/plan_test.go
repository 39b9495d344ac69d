package collective

import (
	"fmt"
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
		for _, name := range []opName{opReduce, opAllReduce, opShuffle} {
			for _, size := range []int{0, 800, 32 << 10, 800_000, 8_000_000} {
				if name == opShuffle && size > 0 {
					continue
				}
				t.Run(fmt.Sprint(shape, name, size), func(t *testing.T) {
					checkPlan(t, newPlan(name, members-1, size, 8, groups), groups, members, size)
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
		homes := p.homes(u)
		for c, ranks := range groups {
			owner := p.owner(c, u)
			if !slices.Contains(ranks, owner) && p.name != opShuffle {
				t.Fatalf("unit %d: owner %d is not of cluster %d", u, owner, c)
			}
			before := leaves[c]
			for _, home := range homes {
				cross(owner, home)
			}
			if len(homes) == 1 && leaves[c] > before+1 {
				t.Errorf("unit %d leaves cluster %d %d times", u, c, leaves[c]-before)
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
	case p.name == opAllReduce && !p.small:
		most = 2 * (p.units*(len(groups)-1)/len(groups) + p.rows*(len(groups)-1))
	case p.name == opAllReduce:
		most = len(groups) - 1
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
