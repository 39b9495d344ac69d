package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// Transfer is one content at one node: seeded, or fetched and served meanwhile. Its methods may
// be called from any goroutine. It goes through these phases:
//
//	seeking -> checking -> fetching -> whole
//	   |          |           |          |
//	   +----------+-----------+----------+---> stopped | failed
type Transfer struct {
	// ID is the CID of the content's manifest, or of its info-hash if the transfer began with
	// a torrent. It is constant.
	ID cid.Cid

	node   *Node
	limits limit.Buckets
	// dir is the directory of the transfer's state, empty if [Node.Join] made it: nothing of that is on the disk.
	dir string
	// run goes through the phases, and returns why that ended, never nil, and what kept bytes from the disk.
	run  func(context.Context) (why, lost error)
	spot spot

	say func(waiting string) // is called with what the transfer waits for, in words

	// operation admits one call at a time that changes what the transfer is: to add, stop or
	// remove it. These wait for the disk, and nothing else takes it. See operate.
	operation sync.Mutex

	looking sync.Mutex // held during a look, which may hang

	saving sync.Mutex // admits one write of the record at a time

	mu struct {
		sync.Mutex // nothing under it waits for a disk, the network or a channel
		rec        metadata.Record
		desc       *metadata.Description
		phase      Phase
		waiting    string // what it waits for, in words
		err        error  // why it failed or was stopped
		swarm      *swarm.Swarm
		store      store.Store // of swarm
		disk       *store.Disk // under store, nil if that is the caller's of [Node.Join]
		// droppedBits is the number of entries without special bits, see [Status.DroppedBits].
		droppedBits int
		checked     int64 // bytes that were rehashed, of toCheck
		toCheck     int64
		began       time.Time
		finished    time.Time
		opening     opening
		state       store.State             // of disk when it was looked at last
		cancel      context.CancelCauseFunc // nil while nothing runs
		ended       chan struct{}           // closed when nothing runs; nil before the first start
		out         int64                   // bytes sent when that was looked at last
		used        time.Time               // when somebody used it last
		users       int                     // who use it now, see use
		outcome     *outcome                // what Wait waits for
		flushed     *outcome                // what Flush waits for
	}
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

func newTransfer(n *Node, id cid.Cid, r metadata.Record) *Transfer {
	t := &Transfer{ID: id, node: n, dir: filepath.Join(n.cfg.Data, "transfers", id.String())}
	t.run = t.runFiles
	t.say = t.setWaiting
	t.mu.phase, t.mu.err = Stopped, ErrStopped
	t.mu.rec, t.mu.used = r, time.Now()
	t.mu.desc = t.newDescription()
	t.mu.outcome, t.mu.flushed = newOutcome(), newOutcome()
	return t
}

// newDescription returns a description of the content that knows nothing yet. The caller has the lock, or the
// transfer alone.
func (t *Transfer) newDescription() *metadata.Description {
	link := t.mu.rec.Link
	d := metadata.NewDescription(t.dir, t.ID, link.InfoHash, t.node.cfg.Torrents)
	d.Follow(link.Plan)
	return d
}

// opening says how a transfer opens its store.
type opening struct {
	reuse bool // take over existing files at the root
	asked bool // a user gets the link again: start over if no file exists
}

func (t *Transfer) opening() opening {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.opening
}

// start runs the transfer.
func (t *Transfer) start(o opening) {
	ctx, cancel := context.WithCancelCause(t.node.ctx)
	ended := make(chan struct{})
	t.mu.Lock()
	if t.dir != "" {
		t.mu.desc = t.newDescription()
	}
	t.mu.err, t.mu.waiting = nil, ""
	t.mu.began, t.mu.finished = time.Now(), time.Time{}
	t.mu.cancel, t.mu.ended, t.mu.opening = cancel, ended, o
	if t.mu.outcome.settled() {
		t.mu.outcome = newOutcome()
	}
	if t.mu.flushed.settled() {
		t.mu.flushed = newOutcome()
	}
	logPhase := t.enter(Seeking)
	t.mu.Unlock()
	logPhase()
	t.node.wg.Go(func() {
		defer close(ended)
		why, lost := t.node.maySeed(t.record().Seed), error(nil)
		if why == nil {
			why, lost = t.run(ctx)
		}
		cancel(nil)
		t.end(why, lost)
	})
}

// end records why the transfer ended, and what kept its bytes from the disk, if anything did. The
// latter is a failure even of a transfer that was to stop.
func (t *Transfer) end(why, lost error) {
	t.mu.Lock()
	s := t.mu.swarm
	t.mu.Unlock()
	if s != nil {
		t.logUnsaved(t.update(func(r *metadata.Record) {
			r.Have, r.Bytes = s.Stored()
			r.Whole = r.Whole && lost == nil
		}))
	}
	if lost != nil { // before anybody can see that the transfer has failed
		t.node.lose(fmt.Errorf("%s: %w", t.record().Root, explain(lost)))
	}
	restarts := lost == nil && errors.Is(why, errRestart)
	stopped := lost == nil && (errors.Is(why, ErrStopped) || errors.Is(why, errClosing))
	t.node.transfers.mu.Lock() // so that nobody counts the swarm twice, or not at all
	t.mu.Lock()
	if s != nil {
		totals := s.Totals()
		t.node.transfers.ended.Add(&totals)
	}
	t.mu.swarm, t.mu.store, t.mu.disk, t.mu.cancel, t.mu.waiting = nil, nil, nil, nil, ""
	t.mu.state = store.State{}
	phase := Stopped
	switch {
	case restarts:
		t.mu.err = ErrStopped
	case stopped:
		t.mu.err = why
		t.settle(why)
	default:
		phase, t.mu.err = Failed, explain(cmp.Or(lost, why))
		t.settle(t.mu.err)
	}
	logPhase := t.enter(phase)
	t.mu.Unlock()
	t.node.transfers.mu.Unlock()
	logPhase()
}

// giveUp settles the outcome of a transfer that does not run.
func (t *Transfer) giveUp(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle(why)
}

// settle settles what Wait and Flush wait for. The caller has the lock.
func (t *Transfer) settle(why error) {
	t.mu.outcome.settle(why)
	t.mu.flushed.settle(why)
}

// logUnsaved logs that the record was not saved, unless err is nil.
func (t *Transfer) logUnsaved(err error) {
	if err != nil {
		t.node.log.Error("transfer record not saved", "content", t.ID.String(), "error", err)
	}
}

// update changes the record and writes it, unless nothing of the transfer is on the disk. Writes are ordered, and readers of the state do not
// wait for them.
func (t *Transfer) update(change func(*metadata.Record)) error {
	t.saving.Lock()
	defer t.saving.Unlock()
	t.mu.Lock()
	change(&t.mu.rec)
	r := t.mu.rec
	t.mu.Unlock()
	if t.dir == "" {
		return nil
	}
	return r.Save(t.dir)
}

// Wait blocks until the content is whole, the transfer has failed or was stopped, or ctx ends.
// It returns nil once the content was whole, even if the transfer has ended since. A call of
// [Node.Get] or [Node.Seed] for the same content meanwhile does not end it.
func (t *Transfer) Wait(ctx context.Context) error {
	t.mu.Lock()
	o := t.mu.outcome
	t.mu.Unlock()
	return o.wait(ctx)
}

// Flush is Wait until all of the content is on the disk, too. A crash of the machine does not harm
// it any more then.
func (t *Transfer) Flush(ctx context.Context) error {
	t.mu.Lock()
	o := t.mu.flushed
	t.mu.Unlock()
	return o.wait(ctx)
}

// Err returns why the transfer failed or stopped, nil while it runs. The error is or wraps
// [ErrStopped] if Stop was called.
func (t *Transfer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.err
}

// Stop ends the transfer, and waits for the disk, and for peers for a second at most. What is
// stored is kept. The node does not resume the transfer when it starts again, but
// [Node.Get] and [Node.Seed] do. Stopping a stopped or removed transfer does nothing.
func (t *Transfer) Stop() error {
	done, err := t.operate()
	if err != nil {
		return err
	}
	defer done()
	if !t.node.transfers.has(t) {
		return nil
	}
	t.halt(ErrStopped)
	return t.update(func(r *metadata.Record) { r.Stopped = true })
}

// operate begins an operation on the transfer, which ends when done is called. It waits for
// other operations, and fails once the node closes.
func (t *Transfer) operate() (done func(), err error) {
	if err := t.node.enter(); err != nil {
		return nil, err
	}
	t.operation.Lock()
	return func() {
		t.operation.Unlock()
		t.node.wg.Done()
	}, nil
}

// halt ends the transfer's run, and waits for that.
func (t *Transfer) halt(why error) {
	t.mu.Lock()
	cancel, ended := t.mu.cancel, t.mu.ended
	t.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
	if ended != nil {
		<-ended
	}
}

// running reports whether the transfer was started and has not ended.
func (t *Transfer) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.cancel != nil
}

func (t *Transfer) record() metadata.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.rec
}

// setWaiting notes what the transfer waits for.
func (t *Transfer) setWaiting(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.waiting = what
}

// Description returns what is known of the content besides its bytes. It is replaced when the
// transfer starts again.
func (t *Transfer) Description() *metadata.Description {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.desc
}

// Manifest returns the manifest that pieces are verified with, nil while it is not known. It
// must not be changed.
func (t *Transfer) Manifest() *proto.Manifest { return t.Description().Manifest() }

// ShortName returns the name that replaces the content id in the node's log.
func (t *Transfer) ShortName() string { return t.node.names.Of(t.ID) }

// NodeID returns the libp2p id of the node.
func (t *Transfer) NodeID() string { return t.node.host.ID().String() }

// Link returns the link by which others get the content. It must not be changed.
func (t *Transfer) Link() *proto.Link { return t.record().Link }

// Announce returns the announce URLs that users of this node named when they seeded the content.
func (t *Transfer) Announce() []string { return t.record().Announce }

// keys returns the ids under which the content is announced and served.
func (t *Transfer) keys() []cid.Cid { return t.Link().Keys() }
