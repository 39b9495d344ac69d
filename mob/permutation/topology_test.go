package permutation

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// ids are n node ids.
func ids(n int) []proto.PeerID {
	all := make([]proto.PeerID, n)
	for i := range all {
		all[i] = proto.PeerID(fmt.Sprintf("%04d", i))
	}
	return all
}

// TestCycles wants every permutation to be one cycle of all members, so that each sends
// to one and receives from one, and nobody talks to itself or to the same few.
func TestCycles(t *testing.T) {
	for _, n := range []int{2, 3, 20, 301} {
		topology := NewTopology(7, ids(n))
		for round := range Length {
			place := 0
			for steps := 1; ; steps++ {
				if place = topology.Successor(round, place); place == 0 {
					if steps != n {
						t.Fatalf("%d nodes, permutation %d: a cycle of %d", n, round, steps)
					}
					break
				}
			}
		}
	}
}

// TestEven wants every node to follow every other about equally often.
func TestEven(t *testing.T) {
	const n, seeds = 5, 20
	var follows [n][n]int
	for seed := range uint64(seeds) {
		topology := NewTopology(seed, ids(n))
		for round := range Length {
			for place := range n {
				follows[place][topology.Successor(round, place)]++
			}
		}
	}
	// Binomial with a mean of 1280 and a deviation of 31.
	for i := range n {
		for j := range n {
			if mean := seeds * Length / (n - 1); i != j && (follows[i][j] < mean-160 || follows[i][j] > mean+160) {
				t.Errorf("%d follows %d %d times, of %d on average", j, i, follows[i][j], mean)
			}
		}
	}
}

// TestSameEverywhere wants one topology from one seed, whoever lists the members
// and how, and another from another seed.
func TestSameEverywhere(t *testing.T) {
	members := ids(40)
	shuffled := append(slices.Clone(members), members[3], members[9])
	slices.Reverse(shuffled)
	a, b, other := NewTopology(5, members), NewTopology(5, shuffled), NewTopology(6, members)
	if !slices.Equal(a.Members(), b.Members()) {
		t.Fatalf("members %v and %v", a.Members(), b.Members())
	}
	differ := 0
	for round := range 2 * Length {
		for place := range members {
			if a.Successor(round, place) != b.Successor(round, place) {
				t.Fatalf("permutation %d differs", round)
			}
			if a.Successor(round, place) != other.Successor(round, place) {
				differ++
			}
		}
	}
	if differ < Length*len(members) {
		t.Errorf("another seed makes other successors in %d of %d cases", differ, 2*Length*len(members))
	}
}

// TestVector holds the drawing of permutations to what other versions of the program
// draw.
func TestVector(t *testing.T) {
	topology := NewTopology(1, ids(6))
	var got [3][6]int
	for round := range got {
		for place := range got[round] {
			got[round][place] = topology.Successor(round, place)
		}
	}
	if want := [3][6]int{{4, 3, 5, 0, 2, 1}, {5, 3, 0, 2, 1, 4}, {2, 5, 3, 1, 0, 4}}; got != want {
		t.Errorf("permutations %v, want %v", got, want)
	}
}

// TestAlone wants the only node to be its own successor.
func TestAlone(t *testing.T) {
	if next := NewTopology(1, ids(1)).Successor(3, 0); next != 0 {
		t.Errorf("the only node's successor is %d", next)
	}
}
