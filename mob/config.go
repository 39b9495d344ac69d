package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/proto"
)

// Config describes the node and the content of a [State].
type Config struct {
	// Self is the node's id, and Cluster the name of its cluster.
	Self    proto.PeerID
	Cluster string
	// Assignment has the plan that the node follows, nil for none. The content then has plain pieces and
	// does not grow.
	Assignment *assign.Assignment
	// Picker decides what is requested. Nil picks plain pieces, of a content of Length bytes, of
	// PieceLength bytes each but the last.
	Picker      Picker
	Length      int64
	PieceLength int
	// Growing says that the pieces come into being while the swarm runs: each is wanted from the
	// event [Grown] on that names it. Such a content is never complete.
	Growing bool
	// UploadOnly says that nothing is fetched, whatever is lacking.
	UploadOnly bool
	// Seed makes the random choices.
	Seed uint64
	// Tuning is best left at [DefaultTuning].
	Tuning Tuning
}

// Tuning holds the constants of the algorithm. None is part of the protocol.
type Tuning struct {
	flow.Limits
	conduct.Rules
	// Batch is the least time between two batches of haves and claims to a peer. Claims go to
	// local peers at once. LazyBatch is the same, times the number of peers, for updates that
	// nobody waits for, most of all what the cluster has already: in a large one everybody would
	// announce every piece to everybody.
	Batch, LazyBatch time.Duration
	// Turn is the least time that the claim of a local peer is taken to need; the node measures
	// it. A new piece is left for so long to each member whose turn is before its own.
	Turn time.Duration
	// Settle is how long a new node waits at most to hear what its cluster has, before it fetches
	// over the WAN.
	Settle time.Duration
	// Calm is for how long no member must have come or gone before the node dials peers of other
	// clusters by rank.
	Calm time.Duration
	// Retry is the pause before a failed member is dialled again. It doubles up to MaxRetry.
	Retry, MaxRetry time.Duration
	// MaxLocal and MaxGlobal bound the local peers and those of other clusters that the node
	// dials. It accepts more.
	MaxLocal, MaxGlobal int
	// Session is for how many bytes of a content a node opens one session with a local peer. To
	// open one costs both of them as much as to exchange so many: with a small content the nodes
	// of a large cluster have few, with random members, and not one with each. That is so where
	// there is one cluster only: over the WAN each piece is fetched once because all members
	// hear of each claim. 0 means that a session costs nothing.
	Session int
}

// DefaultTuning returns the tuning of the measurements in BENCHMARKS.md.
func DefaultTuning() Tuning {
	return Tuning{
		Limits: flow.Limits{
			Queue:     200 * time.Millisecond,
			MinBlock:  16 << 10,
			LANBlock:  128 << 10,
			MaxBlock:  proto.MaxBlock,
			MaxWindow: 16 << 20,
		},
		Rules:     conduct.Rules{Stall: 3 * time.Second, Dead: 15 * time.Second, Strikes: 3},
		Batch:     40 * time.Millisecond,
		LazyBatch: 16 * time.Millisecond,
		Turn:      20 * time.Millisecond,
		Settle:    3 * time.Second,
		Calm:      20 * time.Millisecond,
		Retry:     time.Second,
		MaxRetry:  30 * time.Second,
		MaxLocal:  128,
		MaxGlobal: 128,
	}
}
