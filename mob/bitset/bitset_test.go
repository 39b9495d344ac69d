package bitset

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSet drives a set and a map with the same operations.
func TestSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 1 + rng.IntN(300)
		set, oracle := New(n), map[int]bool{}
		for range 400 {
			i := rng.IntN(n)
			switch rng.IntN(12) {
			case 0:
				end := i + rng.IntN(n-i+1)
				set.AddRange(i, end)
				for ; i < end; i++ {
					oracle[i] = true
				}
			case 1:
				if rng.IntN(10) == 0 {
					set.Clear()
					clear(oracle)
				}
			case 2, 3, 4, 5:
				if set.Remove(i) != oracle[i] {
					t.Fatalf("Remove(%d) says %v", i, !oracle[i])
				}
				delete(oracle, i)
			default:
				if set.Add(i) == oracle[i] {
					t.Fatalf("Add(%d) says %v", i, oracle[i])
				}
				oracle[i] = true
			}
			checkSet(t, set, oracle)
		}
	}
}

func checkSet(t *testing.T, set *Set, oracle map[int]bool) {
	t.Helper()
	var want []int
	for i := range set.Cap() {
		if oracle[i] {
			want = append(want, i)
		}
		if set.Has(i) != oracle[i] {
			t.Fatalf("Has(%d) = %v", i, set.Has(i))
		}
	}
	got := slices.Collect(set.All())
	fromRanges := slices.Collect(Numbers(set.Ranges(), set.Cap()))
	first := len(want) / 2
	if n := set.Count(0, set.Cap()); n != len(want) {
		t.Fatalf("Count says %d of %d", n, len(want))
	}
	if len(want) > 0 && set.Count(want[first], set.Cap()) != len(want)-first {
		t.Fatalf("Count from %d says %d, want %d", want[first], set.Count(want[first], set.Cap()), len(want)-first)
	}
	full := len(want) == set.Cap()
	if !slices.Equal(got, want) || !slices.Equal(fromRanges, want) || set.Len() != len(want) || set.Full() != full {
		t.Fatalf("the set has %v, its ranges %v, Len %d, want %v", got, fromRanges, set.Len(), want)
	}
}

// TestPick wants every number of a set that another lacks, by its index, and no other. A clone stays
// as it was.
func TestPick(t *testing.T) {
	a, b := New(150), New(150)
	for i := 0; i < 150; i += 3 {
		a.Add(i)
	}
	b.AddRange(30, 140)
	want := []int{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 141, 144, 147}
	for nth, piece := range want {
		got, ok := a.Pick(b, func(n int) int {
			if n != len(want) {
				t.Fatalf("a choice of %d, want %d", n, len(want))
			}
			return nth
		})
		if !ok || got != piece {
			t.Errorf("index %d is %d, want %d", nth, got, piece)
		}
	}
	if i, ok := a.Pick(nil, func(n int) int { return n - 1 }); !ok || i != 147 {
		t.Errorf("the last of all is %d", i)
	}
	copied := b.Clone()
	b.AddRange(0, 150)
	if i, ok := a.Pick(b, func(int) int { return 0 }); ok {
		t.Errorf("%d of a set that has nothing more", i)
	}
	if copied.Len() != 110 || copied.Has(0) {
		t.Errorf("the copy has %d numbers", copied.Len())
	}
}

// TestIntersection compares the numbers of two sets, from each word on, with those that a
// loop finds.
func TestIntersection(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 300
	a, b := New(n), New(n)
	for range n {
		a.Add(rng.IntN(n))
		b.Add(rng.IntN(n))
	}
	for from := range n {
		var want []int
		for k := range (n + 63) / 64 * 64 {
			i := (from/64*64 + k) % ((n + 63) / 64 * 64)
			if a.Has(i) && b.Has(i) {
				want = append(want, i)
			}
		}
		if got := slices.Collect(a.Intersection(b, from)); !slices.Equal(got, want) {
			t.Fatalf("from %d: %v, want %v", from, got, want)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() {
		for range a.Intersection(b, 100) {
			break
		}
	}); allocs > 0 {
		t.Errorf("%v allocations for one iteration", allocs)
	}
}

// TestEmptySetAllocatesNothing checks that a set has words only while it may have a number, and works without.
func TestEmptySetAllocatesNothing(t *testing.T) {
	empty, other := New(1<<20), New(1<<20)
	other.AddRange(5, 8)
	if common := slices.Collect(empty.Intersection(other, 0)); common != nil || empty.Has(5) || empty.Remove(5) || empty.Count(0, 1<<20) != 0 {
		t.Error("an empty set has a number")
	}
	if i, ok := other.Pick(empty, func(int) int { return 1 }); i != 6 || !ok {
		t.Errorf("picked %d, %v", i, ok)
	}
	other.Clear()
	if empty.words != nil || other.words != nil || empty.Clone().words != nil {
		t.Error("an empty set has words")
	}
}
