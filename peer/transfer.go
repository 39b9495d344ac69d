package peer

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Transfer is the content of one link at one node: seeded, or fetched and served. Its methods may
// be called from any goroutine. It goes through these phases:
//
//	seeking -> checking -> fetching -> whole
//	   |          |           |          |
//	   +----------+-----------+----------+---> stopped | failed
type Transfer struct {
	// ID is the CID of the content's manifest, or of its info-hash if the transfer started with
	// a torrent. It is constant.
	ID cid.Cid

	node *Node
	setup
	limits   limit.Buckets
	governed limit.Buckets // see [limit.Governor]
	use      use
	states   states
	ops      struct {
		token chan struct{} // held during an operation, see do
		calls atomic.Int32  // calls of do that run or wait
	}
	holds int // see [Node.Release]; changed within do
}

// setup has the parameters of the next run of a transfer. It is changed within do, while nothing runs.
type setup struct {
	dir     string                                     // of the transfer's state; empty for an unrecorded transfer: nothing of that is on the disk
	open    func(*proto.Manifest) (store.Store, error) // opens the store of an unrecorded transfer, else nil
	growing *store.Verifier                            // of growing content, else nil
	origins []Origin                                   // of the last call of Get
}

// Phase is the phase of a transfer.
type Phase string

// Phases of a transfer.
const (
	Seeking  Phase = "seeking"  // the manifest or info dictionary is not known yet
	Checking Phase = "checking" // unverified pieces on disk are rehashed
	Fetching Phase = "fetching" // pieces are fetched, and served
	Whole    Phase = "whole"    // every piece is stored and served
	Stopped  Phase = "stopped"  // see [Transfer.Stop]
	Failed   Phase = "failed"   // see [Transfer.Err]
)

func newTransfer(n *Node, id cid.Cid, r metadata.Record, s setup) *Transfer {
	t := &Transfer{ID: id, node: n, setup: s}
	t.ops.token, t.states.locating = make(chan struct{}, 1), make(chan struct{}, 1)
	t.use.last = time.Now()
	t.states.current.Store(&state{phase: Stopped, err: ErrStopped, rec: r, desc: t.newDescription(r.Link), changed: make(chan struct{})})
	return t
}

// newDescription returns an empty description of the content.
func (t *Transfer) newDescription(link *proto.Link) *metadata.Description {
	if t.growing != nil {
		return metadata.NewGrowing(t.ID, t.growing.Manifest())
	}
	return metadata.NewDescription(t.dir, t.ID, link, t.node.cfg.Torrents)
}

// do runs an operation that changes what the transfer is: to add, stop or remove it. It waits for other operations, and ends
// the verification of a stopped transfer. It fails with [ErrUnknownTransfer] if the transfer was removed, and once the node closes.
func (t *Transfer) do(operation func() error) error {
	t.ops.calls.Add(1)
	defer t.ops.calls.Add(-1)
	return t.alone(operation)
}

// alone is do that ends no verification.
func (t *Transfer) alone(operation func() error) error {
	if err := t.node.enter(); err != nil {
		return err
	}
	defer t.node.wg.Done()
	t.ops.token <- struct{}{}
	defer func() { <-t.ops.token }()
	if !t.node.transfers.has(t) {
		return ErrUnknownTransfer
	}
	return operation()
}

// unlessRemoved returns the error of do, nil if the transfer was removed.
func unlessRemoved(err error) error {
	if errors.Is(err, ErrUnknownTransfer) {
		return nil
	}
	return err
}

// halt ends the run, and waits for that.
func (t *Transfer) halt(why error) {
	if r := t.state().run; r != nil {
		r.cancel(why)
		<-r.ended
	}
}

// Wait blocks until the content is complete, the transfer has failed or was stopped, or ctx ends.
// It returns nil once the content was complete, even if the transfer has ended since, but not while damaged pieces are
// fetched again. A concurrent call of [Node.Get] or [Node.Seed] for the same content does not end it.
func (t *Transfer) Wait(ctx context.Context) error {
	return t.states.wait(ctx, func(s *state) result { return s.outcome })
}

// Flush is Wait until all of the content is on the disk, so that a crash of the machine does not harm it.
func (t *Transfer) Flush(ctx context.Context) error {
	return t.states.wait(ctx, func(s *state) result { return s.flushed })
}

// Err returns why the transfer failed or stopped, nil while it runs. The error is or wraps
// [ErrStopped] if Stop was called.
func (t *Transfer) Err() error { return t.state().err }

// Stop ends the transfer, and waits for the disk, and for peers for a second at most. Stored
// pieces are kept. The node does not resume the transfer when it starts again, but
// [Node.Get] and [Node.Seed] do. Stopping a stopped or removed transfer does nothing.
func (t *Transfer) Stop() error {
	return unlessRemoved(t.do(func() error {
		t.halt(ErrStopped)
		return t.update(func(r *metadata.Record) { r.Stopped = true })
	}))
}

func (t *Transfer) log() *slog.Logger { return t.node.log.With("content", t.ID.String()) }

// Description returns the documents of the content: manifest, torrent and plan. It is replaced when the
// transfer starts again.
func (t *Transfer) Description() *metadata.Description { return t.state().desc }

// Manifest returns the manifest that pieces are verified with, nil while it is not known. It
// must not be changed.
func (t *Transfer) Manifest() *proto.Manifest { return t.Description().Manifest() }

// ShortName returns the name that replaces the content id in the node's log.
func (t *Transfer) ShortName() string { return t.node.names.Of(t.ID) }

// NodeID returns the libp2p id of the node.
func (t *Transfer) NodeID() string { return t.node.host.ID().String() }

// Link returns the link of the content. It must not be changed.
func (t *Transfer) Link() *proto.Link { return t.state().rec.Link }

// Announce returns the announce URLs that users of this node named when they seeded the content.
func (t *Transfer) Announce() []string { return t.state().rec.Announce }

// Attach returns an attachment for an external peer to the transfer's swarm. It fails if the
// transfer is not in phase Fetching or Whole, or is coded.
func (t *Transfer) Attach() (*Attachment, error) {
	if s := t.state().swarm; s != nil {
		return s.Attach()
	}
	return nil, errNoSwarm
}
