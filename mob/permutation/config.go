package permutation

import "github.com/mobgrid/mob/proto"

// Config is what a State must know of its node and its content.
type Config struct {
	// Self is the node's own id.
	Self proto.PeerID
	// Batches are the numbers of blocks of the batches, in the order in which they
	// are sent.
	Batches []int
	// Order says how one batch follows another.
	Order Order
	// Uncoded sends plain blocks: the random-block baseline.
	Uncoded bool
	// Whole says that the node has all batches: it is the source, or done.
	Whole bool
	// Decoded are the batches that it has otherwise.
	Decoded []int
	// Window lets the node send without an offer, to peers that do so too: it is how many
	// of its blocks may be unconfirmed, one for each peer, while one leaves at a time. Who
	// has everything may have twice as many. 0 is for offers.
	Window int
	// Seed makes the random choices, of plain blocks.
	Seed uint64
}

// The constants of the paper.
const (
	// slack is C of Overlap-2: for how many rounds beside its number of blocks a
	// batch has the cluster for itself.
	slack = 1
	// mapEvery is after how many blocks a node of the baseline tells the others
	// which it has (section 6.2: every other block is best).
	mapEvery = 2
)
