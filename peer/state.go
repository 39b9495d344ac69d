package peer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/peer/swarm"
)

// state is the state of a transfer at a moment. A published state does not change.
type state struct {
	rec     metadata.Record
	desc    *metadata.Description
	phase   Phase
	waiting string // text of what it waits for
	err     error  // why it failed or was stopped
	lost    error  // why bytes did not reach the disk

	run     *run         // the current or last one, nil before the first start
	swarm   *swarm.Swarm // nil unless the run has a swarm
	past    swarm.Totals // of earlier swarms
	hashing *hashing     // nil unless pieces are hashed before the swarm starts
	look    store.State  // the last comparison with the disk
	// droppedBits is the number of entries without special bits, see [Status.DroppedBits].
	droppedBits int

	place vfs.Place // of the root, as it was seen last
	// open is the place when the store opened it. The last ID is the directory that the store holds open,
	// wherever that was moved since.
	open vfs.Place

	started, completed time.Time
	outcome            *outcome // for Wait
	flushed            *outcome // for Flush
	settling           []func() // settles outcomes once the state is published
}

// hashing is the progress of a check of stored pieces, in bytes.
type hashing struct {
	done  atomic.Int64
	total int64
}

func (s *state) running() bool { return s.phase != Stopped && s.phase != Failed }

// writes reports whether the transfer may still write to its files.
func (s *state) writes() bool { return !s.rec.Seed && !s.rec.Whole }

// disk returns the store of the swarm, nil if there is none or the transfer is unrecorded.
func (s *state) disk() *store.Disk {
	if s.swarm == nil {
		return nil
	}
	return s.run.disk
}

// full reports whether a swarm runs and every piece is verified that is not left out.
func (s *state) full() bool { return s.swarm != nil && s.swarm.Complete() }

// stored returns the verified pieces and their bytes.
func (s *state) stored() (pieces int, bytes int64) {
	m := s.desc.Manifest()
	switch {
	case s.swarm != nil:
		return s.swarm.Stored()
	case s.rec.Whole && m != nil:
		return m.Pieces() - s.rec.LeftOut.Pieces, m.Length() - s.rec.LeftOut.PieceBytes
	}
	return s.rec.Have, s.rec.Bytes
}

// settle ends the calls of Wait and Flush, which then see this state.
func (s *state) settle(err error) {
	s.settleOne(s.outcome, err)
	s.settleOne(s.flushed, err)
}

func (s *state) settleOne(o *outcome, err error) {
	s.settling = append(s.settling, func() { o.settle(err) })
}

// states publishes the state of a transfer: readers wait for nothing.
type states struct {
	changing sync.Mutex // nothing under it waits for a disk, the network or a channel
	current  atomic.Pointer[state]
	saving   sync.Mutex // admits one write of the record at a time
	locating sync.Mutex // held during a look at the path, which may hang
}

func (t *Transfer) state() *state { return t.states.current.Load() }

// change publishes a changed state, and logs a new phase.
func (t *Transfer) change(f func(*state)) {
	t.states.changing.Lock()
	old := t.state()
	s := *old
	f(&s)
	settling := s.settling
	s.settling = nil
	t.states.current.Store(&s)
	for _, settle := range settling {
		settle()
	}
	t.states.changing.Unlock()
	if s.phase == old.phase {
		return
	}
	name, bytes, took := s.rec.Link.Name, int64(0), time.Duration(0)
	if m := s.desc.Manifest(); m != nil {
		name = m.Name
		_, bytes = s.stored()
	}
	if !s.started.IsZero() {
		took = time.Since(s.started)
	}
	log := t.log().With("event", "phase", "name", name, "phase", string(s.phase), "bytes", bytes, "duration", took)
	if s.phase == Failed {
		log.Error("transfer failed", "error", oneLine(s.err.Error()))
		return
	}
	log.Info("transfer phase")
}

// update changes the record, and writes it unless nothing of the transfer is on the disk.
func (t *Transfer) update(f func(*metadata.Record)) error {
	t.states.saving.Lock()
	defer t.states.saving.Unlock()
	t.change(func(s *state) { f(&s.rec) })
	if t.dir == "" {
		return nil
	}
	return t.state().rec.Save(t.dir)
}

// tryUpdate is update that logs an error.
func (t *Transfer) tryUpdate(f func(*metadata.Record)) {
	if err := t.update(f); err != nil {
		t.log().Error("transfer record not saved", "error", err)
	}
}

// outcome is the result of a transfer: every piece is stored, or an error. It outlasts a restart
// unless it was settled before.
type outcome struct {
	done chan struct{}
	err  error // constant once done is closed
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

func (o *outcome) settled() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// settle sets the error, unless the outcome is settled. [Transfer.change] calls it.
func (o *outcome) settle(err error) {
	if !o.settled() {
		o.err = err
		close(o.done)
	}
}

// next returns the outcome of the next run.
func (o *outcome) next() *outcome {
	if o.settled() {
		return newOutcome()
	}
	return o
}

// retry returns the outcome of another attempt: a new one after an error.
func (o *outcome) retry() *outcome {
	if o.settled() && o.err == nil {
		return o
	}
	return o.next()
}

// wait blocks until the outcome is settled, or ctx ends.
func (o *outcome) wait(ctx context.Context) error {
	if o.settled() {
		return o.err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
