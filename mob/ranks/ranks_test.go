package ranks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShare compares shares with the paper's condition, piece by piece.
func TestShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		pieces, size := rng.IntN(400), 1+rng.IntN(70)
		owners := make([]int, pieces)
		for rank := range size {
			first, end := Share(pieces, rank, size)
			for i := range pieces {
				in := pieces*rank <= i*size && i*size < pieces*(rank+1)
				if got := first <= i && i < end; got != in {
					t.Fatalf("Share(%d, %d, %d) = %d, %d: piece %d", pieces, rank, size, first, end, i)
				}
				if in {
					owners[i]++
				}
			}
		}
		for i, n := range owners {
			if n != 1 {
				t.Fatalf("%d pieces among %d: piece %d has %d owners", pieces, size, i, n)
			}
		}
	}
}

// TestMatches compares matches with the overlap of real intervals, and wants symmetry.
func TestMatches(t *testing.T) {
	for size := 1; size <= 24; size++ {
		for other := 1; other <= 24; other++ {
			for rank := range size {
				first, end := Matches(rank, size, other)
				for r := range other {
					// [rank/size, (rank+1)/size) and [r/other, (r+1)/other)
					overlap := rank*other < (r+1)*size && r*size < (rank+1)*other
					if got := first <= r && r < end; got != overlap {
						t.Fatalf("Matches(%d, %d, %d) = %d, %d: rank %d overlaps: %v", rank, size, other, first, end, r, overlap)
					}
					if back, backEnd := Matches(r, other, size); overlap != (back <= rank && rank < backEnd) {
						t.Fatalf("ranks %d of %d and %d of %d match one way only", rank, size, r, other)
					}
				}
			}
		}
	}
	if first, end := Matches(0, 1, 0); first != end {
		t.Errorf("an empty cluster has matches %d to %d", first, end)
	}
}

// TestTurn wants both ends of a link to agree, and each member to be first at about as many links
// as any other.
func TestTurn(t *testing.T) {
	clusters := []string{"A", "B", "C", "D", "E", "F", "G", "H"}
	const size = 4
	for i, own := range clusters {
		first := make([]int, size)
		for j, other := range clusters {
			if i == j {
				continue
			}
			turn := Turn(own, other, without(clusters, own), size)
			if back := Turn(other, own, without(clusters, other), size); back != turn {
				t.Errorf("%s rotates by %d at the link to %s, which rotates by %d", own, turn, other, back)
			}
			first[turn%size]++
		}
		if slices.Min(first) < 1 || slices.Max(first) > 2 {
			t.Errorf("members of %s are the first at %v links", own, first)
		}
	}
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}
