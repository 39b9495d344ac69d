package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/session"
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
	// Picker decides the next request. The default picks plain pieces of PieceLength bytes, of Length bytes in
	// total.
	Picker      Picker
	Length      int64
	PieceLength int
	// Together is [Layout.Together] of the default picker, 0 for no order.
	Together int
	// Growing is true if pieces are made while the swarm runs: each is wanted from its event [Grown] on.
	// The node is never complete then.
	Growing bool
	// UploadOnly is true if the node fetches nothing, even if pieces are missing.
	UploadOnly bool
	// Seed makes the random choices.
	Seed uint64
	// Tuning is best left at [DefaultTuning].
	Tuning Tuning
}

// Tuning has the constants of the algorithm. None is part of the protocol.
type Tuning = session.Tuning

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
		Rules:    conduct.Rules{Stall: 3 * time.Second, Dead: 15 * time.Second, Strikes: 3},
		Batching: avail.Batching{Batch: 40 * time.Millisecond, LazyBatch: 16 * time.Millisecond},
		Settings: roster.Settings{
			Turn:      20 * time.Millisecond,
			Settle:    3 * time.Second,
			Calm:      20 * time.Millisecond,
			Retry:     time.Second,
			MaxRetry:  30 * time.Second,
			MaxLocal:  128,
			MaxGlobal: 128,
		},
	}
}
