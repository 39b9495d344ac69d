package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// maxNamed bounds the files that a message of the log names.
const maxNamed = 8

const (
	// lookPause is the first pause before a path is tried again that does not exist or
	// cannot be read. It doubles up to maxLookPause.
	lookPause    = 250 * time.Millisecond
	maxLookPause = 30 * time.Second
)

// openStore opens or creates the store at the transfer's root, and rehashes unverified pieces. While
// files that existed once are missing, or cannot be read, it waits: a disk may not be mounted
// yet, or a server not be up.
func (r *run) openStore() error {
	log := r.log().With("path", r.state().rec.Root)
	for pause := lookPause; ; pause = min(2*pause, maxLookPause) {
		err := r.tryStore()
		if err == nil {
			if pause > lookPause {
				r.setWaiting("")
				log.Info("content is available again")
			}
			return nil
		}
		why := away(r.state().rec, err)
		if why == "" || r.ctx.Err() != nil {
			return err
		}
		if pause == lookPause {
			log.Warn("content is not there or cannot be read: waiting for it", "error", err)
		}
		r.change(func(s *state) { s.hashing, s.phase, s.waiting = nil, Checking, oneLine(why) })
		select {
		case <-time.After(pause):
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}

// tryStore opens or creates the store, and checks it. If that fails, the store is closed.
func (r *run) tryStore() error {
	st, err := r.newStore()
	if err != nil {
		return err
	}
	r.disk, r.store = st, r.node.fs.wrap(st)
	err = r.checkStore()
	if err == nil {
		err = r.take() // before anything is written
	}
	if err != nil {
		return errors.Join(err, r.store.Close())
	}
	return nil
}

// newStore opens or creates the store.
func (r *run) newStore() (*store.Disk, error) {
	m, rec, files := r.selected, &r.state().rec, r.files(r.state().rec)
	if err := r.take(); err != nil {
		return nil, err
	}
	if rec.Seed && !rec.Begun { // all of it was just hashed
		return store.Seed(r.dir, rec.Root, m, files)
	}
	if !rec.Seed && !rec.Begun && r.node.fs.missing(rec.Root) { // else its disk may not be mounted
		if err := checkRoom(rec.Root, func() (int64, int64, bool) { return store.RoomFor(rec.Root, m, files) }); err != nil {
			return nil, err
		}
		// The record outlasts a power loss if the destination does.
		if err := errors.Join(vfs.SyncDir(vfs.OS{}, r.dir), vfs.SyncDir(vfs.OS{}, filepath.Dir(r.dir))); err != nil {
			return nil, err
		}
	}
	open := store.Open
	if r.asked.Load() && !rec.Seed { // else their disk may not be mounted
		open = store.OpenEmptied
	}
	st, err := open(r.dir, rec.Root, m, files)
	if err == nil && !rec.Seed && store.IsSeed(st) { // the seed no longer exists, or the node was killed before it recorded the seed
		err = errors.Join(store.ErrNoJournal, st.Close())
	}
	switch {
	case err == nil && r.reuse && !rec.Seed:
		if err := st.TakeOver(); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	case errors.Is(err, store.ErrNoJournal) && rec.Seed:
		st, err = store.Seed(r.dir, rec.Root, m, files)
	case r.reuse && (errors.Is(err, store.ErrNoJournal) || errors.Is(err, store.ErrGone) && !rec.Seed):
		st, err = store.Adopt(r.dir, rec.Root, m, files)
	case errors.Is(err, store.ErrNoJournal) && rec.Begun, errors.Is(err, store.ErrGone) && r.asked.Load() && !rec.Seed:
		st, err = store.Again(r.dir, rec.Root, m, files)
	case errors.Is(err, store.ErrNoJournal), errors.Is(err, store.ErrGone) && !rec.Begun:
		st, err = store.Create(r.dir, rec.Root, m, files)
	}
	if err == nil && rec.SpecialBits {
		st.KeepSpecialBits()
	}
	return st, err
}

// checkRoom fails with a [*NoRoomError] if the missing pieces need more bytes than are free. What other programs
// and transfers will write is not known, so the disk may be full later nevertheless.
func checkRoom(root string, room func() (need, free int64, known bool)) error {
	need, free, known := room()
	if !known || need <= free {
		return nil
	}
	return &NoRoomError{Path: root, Need: need, Free: free}
}

// checkStore rehashes pieces of an open store, and records damage.
func (r *run) checkStore() error {
	rec := &r.state().rec
	if !rec.Begun { // from now on the files at the root are this transfer's
		if err := r.update(func(rec *metadata.Record) { rec.Begun = true }); err != nil {
			return err
		}
	}
	if err := r.rehash(); err != nil {
		return err
	}
	if err := r.recordDamage(); err != nil || rec.Seed {
		return err
	}
	return checkRoom(rec.Root, r.disk.Room) // not before: holes and compressed files that are right need none
}

// away returns a text of what a transfer waits for, if its store cannot be opened because its
// files do not exist or cannot be read at present. It returns "" if the transfer fails.
func away(rec metadata.Record, err error) string {
	var changed *store.ChangedError
	var unreadable *store.UnreadableError
	var exists *store.ExistsError
	var errno syscall.Errno
	switch {
	case !rec.Begun, errors.As(err, &changed), errors.As(err, &exists):
		return ""
	case (errors.Is(err, store.ErrGone) || errors.Is(err, fs.ErrNotExist)) && rec.Seed:
		return rec.Root + ", which is not there: put it back, or give it up with `mob rm`"
	case errors.Is(err, store.ErrGone), errors.Is(err, fs.ErrNotExist):
		return rec.Root + ", which is not there: put it back, `mob get` the link again to start over, or give it up with `mob rm`"
	case errors.As(err, &unreadable), errors.As(err, &errno) && errno != syscall.ENOSPC && errno != syscall.EDQUOT:
		return fmt.Sprintf("%s, which cannot be read at present (%v)", rec.Root, err)
	}
	return ""
}

// rehash hashes the unverified pieces of the store, and the damaged pieces of a seed: the user
// may have put its files back. It records the unreadable ones.
func (r *run) rehash() error {
	m, s := r.verifier.Manifest(), r.state()
	check := r.disk.Unverified()
	for i := range check {
		check[i] = check[i] || s.rec.Seed && !r.store.Has(i) && !r.disk.LeavesOut(i)
	}
	r.damaged, r.unreadable, r.why = nil, nil, nil
	if !slices.Contains(check, true) {
		return nil
	}
	done := new(atomic.Int64)
	r.change(func(s *state) { s.hashing, s.phase, s.waiting = done, Checking, "" })
	v := &verification{m: m, progress: func(n, _ int64) { done.Store(n) }}
	err := store.Audit(r.ctx, r.store, r.verifier, store.Pieces(check), record(r.store, v.found))
	r.unreadable, r.why = v.unreadable, v.why
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err == nil && s.rec.Link.Coded != 0 { // the blocks of a generation need all its pieces
		err = r.why
	}
	return err
}

// recordDamage records the damaged and missing pieces of a complete transfer. They are fetched again, unless it is a
// seed.
func (r *run) recordDamage() error {
	rec, m := &r.state().rec, r.selected
	if !rec.Whole {
		return nil // missing pieces are fetched in any case
	}
	slices.Sort(r.unreadable)
	for i := range m.Pieces() {
		if _, unreadable := slices.BinarySearch(r.unreadable, i); !r.store.Has(i) && !unreadable && !r.disk.LeavesOut(i) {
			r.damaged = append(r.damaged, i)
		}
	}
	if len(r.damaged) == 0 {
		return nil
	}
	files, more := m.FilesOf(r.damaged, maxNamed)
	log := r.log().With("path", rec.Root, "pieces", len(r.damaged), "files", files, "more_files", more)
	if rec.Seed {
		log.Error("content is damaged on disk: its pieces are not offered until the files are put back as they were")
		return nil
	}
	log.Error("content is damaged on disk: its pieces are fetched again")
	return r.update(func(rec *metadata.Record) { rec.Whole = false })
}
