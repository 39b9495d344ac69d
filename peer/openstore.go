package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
)

// maxNamed bounds the files that a message of the log names.
const maxNamed = 8

const (
	// lookPause is the first pause before a content is looked for again that is not there, or
	// cannot be read. It doubles up to maxLookPause.
	lookPause    = 250 * time.Millisecond
	maxLookPause = 30 * time.Second
)

// openStore opens or creates the store at the transfer's root, and rehashes unverified pieces. While
// a content that was there once is missing, or cannot be read, it waits: a disk may not be mounted
// yet, or a server not be up.
func (t *Transfer) openStore(ctx context.Context, c *content) error {
	waited := false
	for pause := lookPause; ; pause = min(2*pause, maxLookPause) {
		st, err := t.tryStore(c.verifier)
		if err == nil {
			c.disk, c.store = st, t.node.fs.wrap(st)
			err = t.prepareStore(ctx, c)
		}
		if err == nil {
			if waited {
				t.say("")
				t.node.log.Info("content is there again", "content", t.ID.String(), "path", t.record().Root)
			}
			return nil
		}
		why := away(t.record(), err)
		if why == "" || ctx.Err() != nil {
			return err
		}
		if !waited {
			waited = true
			t.node.log.Warn("content is not there or cannot be read: waiting for it",
				"content", t.ID.String(), "path", t.record().Root, "error", err)
		}
		t.mu.Lock()
		t.mu.checked, t.mu.toCheck = 0, 0
		logPhase := t.enter(Checking)
		t.mu.Unlock()
		logPhase()
		t.say(oneLine(why))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryStore opens or creates the store.
func (t *Transfer) tryStore(v *store.Verifier) (*store.Disk, error) {
	m, r, dir, files := v.Manifest(), t.record(), t.dir, t.files()
	o := t.opening()
	if err := t.take(); err != nil {
		return nil, err
	}
	if r.Seed && !r.Begun { // all of it was just hashed
		return store.Seed(dir, r.Root, m, files)
	}
	if !r.Seed && t.node.missing(r.Root) {
		if err := checkRoom(r.Root, func() (int64, int64, bool) { return store.RoomFor(r.Root, m, files) }); err != nil {
			return nil, err
		}
		// The record outlasts a power loss if the destination does.
		if err := errors.Join(datadir.SyncDir(dir), datadir.SyncDir(filepath.Dir(dir))); err != nil {
			return nil, err
		}
	}
	st, err := store.Open(dir, r.Root, m, files)
	switch {
	case err == nil && o.reuse:
		if err := st.TakeOver(); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	case errors.Is(err, store.ErrNoJournal) && r.Seed:
		st, err = store.Seed(dir, r.Root, m, files)
	case errors.Is(err, store.ErrNoJournal) && (o.reuse || r.Begun):
		st, err = store.Adopt(dir, r.Root, m, files)
	case errors.Is(err, store.ErrGone) && o.asked && !r.Seed:
		st, err = store.Again(dir, r.Root, m, files)
	case errors.Is(err, store.ErrNoJournal), errors.Is(err, store.ErrGone) && !r.Begun:
		st, err = store.Create(dir, r.Root, m, files)
	}
	if err == nil && r.SpecialBits {
		st.KeepSpecialBits()
	}
	return st, err
}

// prepareStore takes over an open store, and notes what is wrong with the content. If it fails, it
// closes the store.
func (t *Transfer) prepareStore(ctx context.Context, c *content) error {
	var err error
	if r := t.record(); !r.Seed {
		err = checkRoom(r.Root, c.disk.Room)
	}
	if err == nil {
		err = t.markBegun()
	}
	if err == nil {
		err = t.recheck(ctx, c)
	}
	if err == nil {
		err = t.noteDamage(c)
	}
	if err == nil {
		err = t.take() // before anything is written
	}
	if err != nil {
		return errors.Join(err, c.store.Close())
	}
	return nil
}

// away returns what a transfer waits for, in words, whose store cannot be opened because its
// content is not there or cannot be read at present. It returns "" if waiting is of no use.
func away(r metadata.Record, err error) string {
	var changed *store.ChangedError
	var unreadable *store.UnreadableError
	var exists *store.ExistsError
	var errno syscall.Errno
	switch {
	case !r.Begun, errors.As(err, &changed), errors.As(err, &exists):
		return ""
	case (errors.Is(err, store.ErrGone) || errors.Is(err, fs.ErrNotExist)) && r.Seed:
		return r.Root + ", which is not there: put it back, or give it up with `mob rm`"
	case errors.Is(err, store.ErrGone), errors.Is(err, fs.ErrNotExist):
		return r.Root + ", which is not there: put it back, `mob get` the link again to start over, or give it up with `mob rm`"
	case errors.As(err, &unreadable), errors.As(err, &errno) && errno != syscall.ENOSPC && errno != syscall.EDQUOT:
		return fmt.Sprintf("%s, which cannot be read at present (%v)", r.Root, err)
	}
	return ""
}

// markBegun records that the files at the root are this transfer's.
func (t *Transfer) markBegun() error {
	if t.record().Begun {
		return nil
	}
	return t.update(func(r *metadata.Record) { r.Begun = true })
}

// recheck rehashes the unverified pieces of a store, and those of a seed that were damaged: the user
// may have put its files back. It notes which cannot be read.
func (t *Transfer) recheck(ctx context.Context, c *content) error {
	m, seed := c.verifier.Manifest(), t.record().Seed
	check := c.disk.Unverified()
	for i := range check {
		check[i] = check[i] || seed && !c.store.Has(i)
	}
	total := bytesOf(m, check)
	c.lost, c.unreadable, c.why = nil, nil, nil
	if total == 0 {
		return nil
	}
	t.mu.Lock()
	t.mu.checked, t.mu.toCheck = 0, total
	logPhase := t.enter(Checking)
	t.mu.Unlock()
	logPhase()
	err := store.Audit(ctx, c.store, c.verifier, store.Pieces(check), record(c.store, func(piece int, v store.Verdict, why error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.mu.checked += int64(m.PieceSize(piece))
		if v == store.Unreadable {
			c.unreadable = append(c.unreadable, piece)
			c.why = cmp.Or(c.why, why)
		}
	}))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && t.Link().Coded != 0 { // the blocks of a generation need all its pieces
		err = c.why
	}
	return err
}

// noteDamage notes which pieces of a content that was whole are damaged or missing. What was fetched
// is fetched again; a seed serves the rest.
func (t *Transfer) noteDamage(c *content) error {
	r, m := t.record(), c.verifier.Manifest()
	if !r.Whole {
		return nil // what is lacking is fetched in any case
	}
	slices.Sort(c.unreadable)
	for i := range m.Pieces() {
		if _, unreadable := slices.BinarySearch(c.unreadable, i); !c.store.Has(i) && !unreadable {
			c.lost = append(c.lost, i)
		}
	}
	if len(c.lost) == 0 {
		return nil
	}
	files, more := m.FilesOf(c.lost, maxNamed)
	log := t.node.log.With("content", t.ID.String(), "path", r.Root, "pieces", len(c.lost), "files", files,
		"more_files", more)
	if r.Seed {
		log.Error("content is damaged on disk: its pieces are not offered until the files are put back as they were")
		return nil
	}
	log.Error("content is damaged on disk: its pieces are fetched again")
	return t.update(func(r *metadata.Record) { r.Whole = false })
}
