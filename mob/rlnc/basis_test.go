package rlnc

import (
	"math/rand/v2"
	"testing"
)

func newBasis(t testing.TB, k int) *Basis {
	t.Helper()
	b, err := NewBasis(k)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// addTo adds v, and compares with what Innovative reported before.
func addTo(t testing.TB, b *Basis, v []byte) bool {
	t.Helper()
	foretold, err := b.Innovative(v)
	if err != nil {
		t.Fatal(err)
	}
	innovative, err := b.Add(v)
	if err != nil || innovative != foretold {
		t.Fatalf("innovative %v, %v; before %v", innovative, err, foretold)
	}
	return innovative
}

// TestBasis compares ranks with the reference, for vectors that often depend on each other:
// with few places that are not zero.
func TestBasis(t *testing.T) {
	ref, rng := newReference(), rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{1, 2, 3, 8, 31, 32, 33, 64} {
		for range 20 {
			b := newBasis(t, k)
			var vectors, empty [][]byte
			for range k + 5 {
				v := make([]byte, k)
				for range 1 + rng.IntN(3) {
					v[rng.IntN(k)] = byte(rng.IntN(3))
				}
				vectors, empty = append(vectors, v), append(empty, nil)
				before := b.Rank()
				innovative := addTo(t, b, v)
				_, rank := ref.decode(vectors, empty)
				if b.Rank() != rank || innovative != (rank > before) || b.Full() != (rank == k) || b.K() != k {
					t.Fatalf("k = %d: rank %d, want %d; innovative %v, full %v", k, b.Rank(), rank, innovative, b.Full())
				}
			}
		}
	}
}

// TestFullRank is the property that coding rests on: any k random blocks suffice,
// but for one case in 255.
func TestFullRank(t *testing.T) {
	for _, c := range []struct{ k, trials int }{{1, 5000}, {2, 5000}, {16, 2000}, {32, 2000}, {64, 700}, {255, 120}} {
		full, v := 0, make([]byte, c.k)
		for trial := range c.trials {
			b := newBasis(t, c.k)
			for i := range c.k {
				expand(uint64(trial*c.k+i), v)
				if _, err := b.Add(v); err != nil {
					t.Fatal(err)
				}
			}
			if b.Full() {
				full++
			}
		}
		if share := float64(full) / float64(c.trials); share <= 0.99 {
			t.Errorf("k = %d: %.4f of %d have full rank", c.k, share, c.trials)
		}
	}
}

// TestCombine draws vectors of a basis: all must depend on it, and together they
// must span it, so that a receiver gets as far as the sender is.
func TestCombine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ k, rank int }{{1, 1}, {8, 3}, {40, 1}, {40, 39}, {40, 40}, {255, 100}} {
		from, to := newBasis(t, c.k), newBasis(t, c.k)
		v := make([]byte, c.k)
		for from.Rank() < c.rank {
			draw(v, rng)
			addTo(t, from, v)
		}
		drawn := 0
		for ; to.Rank() < c.rank; drawn++ {
			from.Combine(v, rng)
			if addTo(t, from, v) {
				t.Fatalf("rank %d of %d: %x is not of the basis", c.rank, c.k, v)
			}
			addTo(t, to, v)
			if drawn > c.rank+3 {
				t.Fatalf("rank %d of %d after %d vectors, want %d", to.Rank(), c.k, drawn, c.rank)
			}
		}
	}
	empty, v := newBasis(t, 2), []byte{7, 8}
	if empty.Combine(v, rng); v[0] != 7 || v[1] != 8 {
		t.Errorf("an empty basis makes %x", v)
	}
}

func TestFullBasis(t *testing.T) {
	b, err := FullBasis(3)
	if err != nil || !b.Full() || b.Rank() != 3 {
		t.Fatalf("%+v, %v", b, err)
	}
	if addTo(t, b, []byte{1, 2, 3}) {
		t.Error("a vector is innovative to a full basis")
	}
}

func TestBasisRefuses(t *testing.T) {
	full, err := FullBasis(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Basis{newBasis(t, 3), full} {
		for _, v := range [][]byte{nil, {1}, {1, 2}, {1, 2, 3, 4}, make([]byte, 256)} {
			if got, err := b.Add(v); got || err == nil {
				t.Errorf("%x: %v, %v", v, got, err)
			}
			if got, err := b.Innovative(v); got || err == nil {
				t.Errorf("%x: %v, %v", v, got, err)
			}
		}
		if addTo(t, b, make([]byte, 3)) {
			t.Error("zeros are innovative")
		}
	}
}
