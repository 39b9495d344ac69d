package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// Config is what a State must know of its node and its content, and the tuning
// of the algorithm.
type Config struct {
	// Self is the node's own id.
	Self proto.PeerID
	// Cluster is the node's own cluster.
	Cluster string
	// Picker decides what is requested. Nil is that of plain pieces: Length is the content's
	// length in bytes then, and PieceLength that of every piece but the last.
	Picker      Picker
	Length      int64
	PieceLength int
	// Seed makes the random choices.
	Seed uint64
	// Tuning is best left at [DefaultTuning].
	Tuning Tuning
}

// Tuning holds the constants of the algorithm. None is part of the protocol.
type Tuning struct {
	// Queue is how long a byte may wait on a link: a fifth of it is aimed at,
	// beside what fairness takes, and from two thirds on members leave the link to
	// others. On the LAN bytes in flight are the measured rate times the round
	// trip plus a quarter of Queue. Longer fills a jittery link better, but makes
	// claims and the end game later.
	Queue time.Duration
	// MinBlock and MaxBlock bound a request, in bytes, powers of two. A block is a
	// quarter of what may be in flight on a link; on the LAN it takes about half
	// of Queue at the measured rate, and is at least LANBlock: a block costs CPU
	// whatever its size, and most of all bytes go over the LAN.
	MinBlock, LANBlock, MaxBlock int
	// MaxWindow bounds the bytes in flight on a link to another cluster, and the
	// queued part of those at one local peer.
	MaxWindow int
	// Batch is how long haves and claims are gathered at least between two
	// messages to a peer. A claim goes to local peers at once. LazyBatch is the
	// same, for each peer that there is, for what nobody waits for, most of all what
	// is no news to a cluster: in a large one everybody would tell everybody of every
	// piece.
	Batch, LazyBatch time.Duration
	// Turn is the least time that a local peer's claim may take to come; the node
	// measures it. For so long a new piece is left to each member whose turn is before
	// its own.
	Turn time.Duration
	// Settle is how long a newcomer waits at most to hear of its cluster's
	// pieces before it fetches over the WAN.
	Settle time.Duration
	// Stall is how long a peer may hold requests without sending a byte before
	// they go to others. Dead is how long one may be silent altogether.
	Stall, Dead time.Duration
	// Calm is for how long members must not have come or gone before the node
	// dials other clusters by the ranks that follow from them.
	Calm time.Duration
	// Retry is the first pause before a failed member is dialled again; it
	// doubles up to MaxRetry.
	Retry, MaxRetry time.Duration
	// Strikes is how many bad pieces make a peer banned.
	Strikes int
	// MaxLocal and MaxGlobal bound the connections that the node makes by
	// itself; it accepts more.
	MaxLocal, MaxGlobal int
}

// DefaultTuning is what the measurements in BENCHMARKS.md were made with.
func DefaultTuning() Tuning {
	return Tuning{
		Queue:     200 * time.Millisecond,
		MinBlock:  16 << 10,
		LANBlock:  128 << 10,
		MaxBlock:  proto.MaxBlock,
		MaxWindow: 16 << 20,
		Batch:     40 * time.Millisecond,
		LazyBatch: 16 * time.Millisecond,
		Turn:      20 * time.Millisecond,
		Settle:    3 * time.Second,
		Stall:     3 * time.Second,
		Dead:      15 * time.Second,
		Calm:      20 * time.Millisecond,
		Retry:     time.Second,
		MaxRetry:  30 * time.Second,
		Strikes:   3,
		MaxLocal:  128,
		MaxGlobal: 128,
	}
}
