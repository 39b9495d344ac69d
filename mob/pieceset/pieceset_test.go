package pieceset

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
	var want, got, fromRanges []int
	for i := range set.Cap() {
		if oracle[i] {
			want = append(want, i)
		}
		if set.Has(i) != oracle[i] {
			t.Fatalf("Has(%d) = %v", i, set.Has(i))
		}
	}
	set.Each(func(i int) { got = append(got, i) })
	Each(set.Ranges(), set.Cap(), func(i int) { fromRanges = append(fromRanges, i) })
	first := len(want) / 2
	if n := set.CountIn(0, set.Cap()); n != len(want) {
		t.Fatalf("CountIn says %d of %d", n, len(want))
	}
	if len(want) > 0 && set.CountIn(want[first], set.Cap()) != len(want)-first {
		t.Fatalf("CountIn from %d says %d, want %d", want[first], set.CountIn(want[first], set.Cap()), len(want)-first)
	}
	if !slices.Equal(got, want) || !slices.Equal(fromRanges, want) || set.Len() != len(want) || set.Full() != (len(want) == set.Cap()) {
		t.Fatalf("set has %v, ranges %v, Len %d, want %v", got, fromRanges, set.Len(), want)
	}
}

// TestPick wants every piece of one set that another lacks, by its place, and no
// other; and a copy that stays as it was.
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
			t.Errorf("number %d is %d, want %d", nth, got, piece)
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
		t.Errorf("the copy has %d pieces", copied.Len())
	}
}
