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

	run   *run         // the current or last one, nil before the first start
	swarm *swarm.Swarm // nil unless the run has a swarm
	past  swarm.Totals // of earlier swarms
	// hashing is the number of bytes hashed before the swarm starts, nil if none are.
	hashing *atomic.Int64
	look    store.State // the last comparison with the disk
	// droppedBits is the number of entries without special bits, see [Status.DroppedBits].
	droppedBits int

	place vfs.Place // of the root, as it was seen last
	// open is the place when the store opened it. The last ID is the directory that the store holds open,
	// wherever that was moved since.
	open vfs.Place

	started, completed time.Time
	outcome, flushed   result // for Wait and Flush

	changed chan struct{} // closed once another state is published, which is next
	next    *state
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

// settle ends the calls of Wait and Flush.
func (s *state) settle(err error) {
	s.outcome.settle(err)
	s.flushed.settle(err)
}

// states publishes the state of a transfer: readers wait for nothing.
type states struct {
	changing sync.Mutex // nothing under it waits for a disk, the network or a channel
	current  atomic.Pointer[state]
	saving   sync.Mutex    // admits one write of the record at a time
	locating chan struct{} // has a token during a look at the path, which may hang
}

func (t *Transfer) state() *state { return t.states.current.Load() }

// change publishes a changed state, and logs a new phase.
func (t *Transfer) change(f func(*state)) {
	t.states.changing.Lock()
	old := t.state()
	s := *old
	s.changed = make(chan struct{})
	f(&s)
	old.next = &s
	t.states.current.Store(&s)
	close(old.changed)
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

// result is the result of a transfer: every piece is stored, or an error. It outlasts a restart unless it was known
// before.
type result struct {
	known bool
	err   error
}

func (r *result) settle(err error) {
	if !r.known {
		*r = result{true, err}
	}
}

// retry forgets an error.
func (r *result) retry() {
	if r.err != nil {
		*r = result{}
	}
}

// until returns the first state, the present one included, that meets a condition.
func (all *states) until(ctx context.Context, holds func(*state) bool) (*state, error) {
	for s := all.current.Load(); ; s = s.next {
		if holds(s) {
			return s, nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// wait blocks until a result is known, or ctx ends.
func (all *states) wait(ctx context.Context, of func(*state) result) error {
	s, err := all.until(ctx, func(s *state) bool { return of(s).known })
	if err != nil {
		return ctx.Err()
	}
	return of(s).err
}
