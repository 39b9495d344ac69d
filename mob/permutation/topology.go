package permutation

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// Length is the number of permutations in a Topology. After the last the first comes
// again. It is part of the protocol, as is how a permutation is drawn.
const Length = 256

// Topology is a list of cyclic permutations of all nodes, each drawn at random from all
// that there are. Seed and members determine it, so all nodes make the same one. It does
// not change, and may be shared.
type Topology struct {
	members []proto.PeerID // sorted
	next    [][]int32      // by permutation and place of a member: the place of its successor
}

// NewTopology draws the permutations of the given members, of whom each counts once.
func NewTopology(seed uint64, members []proto.PeerID) *Topology {
	members = slices.Clone(members)
	slices.Sort(members)
	t := &Topology{members: slices.Compact(members), next: make([][]int32, Length)}
	src := rand.NewPCG(seed, 0x7065726d)
	for i := range t.next {
		t.next[i] = cycle(src, len(t.members))
	}
	return t
}

// cycle draws a permutation of n places that is a single cycle (Sattolo's algorithm), as
// successors. It does without the methods of rand.Rand, which may change.
func cycle(src *rand.PCG, n int) []int32 {
	next := make([]int32, n)
	for i := range next {
		next[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j, _ := bits.Mul64(src.Uint64(), uint64(i)) // below i
		next[i], next[j] = next[j], next[i]
	}
	return next
}

// Members are all nodes, sorted by id. A node's place is its index.
func (t *Topology) Members() []proto.PeerID { return t.members }

// Place is the place of a node among the members, and whether it is one.
func (t *Topology) Place(id proto.PeerID) (int, bool) { return slices.BinarySearch(t.members, id) }

// Successor is the place of the node that follows the one of the given place in a round's
// permutation. It is the node itself only where there is no other.
func (t *Topology) Successor(round, place int) int {
	return int(t.next[round%len(t.next)][place])
}
