package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
)

const (
	// lookPause is the first pause before a content is looked for again that is not there, or
	// cannot be read. It doubles up to maxLookPause.
	lookPause    = 250 * time.Millisecond
	maxLookPause = 30 * time.Second
)

// openStore opens or creates the store at the transfer's root, and rehashes doubtful pieces. While
// a content that was there once is missing, or cannot be read, it waits: a disk may not be mounted
// yet, or a server not be up.
func (t *Transfer) openStore(ctx context.Context, v *store.Verifier, reuse bool) (*store.Disk, error) {
	waited := false
	for pause := lookPause; ; pause = min(2*pause, maxLookPause) {
		st, err := t.tryStore(v, reuse)
		if err == nil {
			err = t.prepareStore(ctx, st, v)
		}
		if err == nil {
			if waited {
				t.say("")
				t.node.log.Info("content is there again", "content", t.ID.String(), "path", t.record().Root)
			}
			return st, nil
		}
		why := away(t.record(), err)
		if why == "" || ctx.Err() != nil {
			return nil, err
		}
		if !waited {
			waited = true
			t.node.log.Warn("content is not there or cannot be read: waiting for it",
				"content", t.ID.String(), "path", t.record().Root, "error", err)
		}
		t.mu.Lock()
		t.mu.phase, t.mu.checked, t.mu.toCheck = Checking, 0, 0
		t.mu.Unlock()
		t.say(oneLine(why))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryStore opens or creates the store.
func (t *Transfer) tryStore(v *store.Verifier, reuse bool) (*store.Disk, error) {
	m, r, dir := v.Manifest(), t.record(), t.node.transferDir(t.ID)
	if r.Seed && !r.Begun { // all of it was just hashed
		return store.Seed(dir, r.Root, m, t.node.files)
	}
	st, err := store.Open(dir, r.Root, m, t.node.files)
	switch {
	case errors.Is(err, store.ErrNoJournal) && r.Seed:
		st, err = store.Seed(dir, r.Root, m, t.node.files)
	case errors.Is(err, store.ErrNoJournal) && (reuse || r.Begun):
		st, err = store.Adopt(dir, r.Root, m, t.node.files)
	case errors.Is(err, store.ErrNoJournal), errors.Is(err, store.ErrGone) && !r.Begun:
		st, err = store.Create(dir, r.Root, m, t.node.files)
	}
	return st, err
}

// prepareStore takes over an open store. If it fails, it closes the store.
func (t *Transfer) prepareStore(ctx context.Context, st *store.Disk, v *store.Verifier) error {
	err := t.markBegun()
	if err == nil {
		err = t.recheck(ctx, st, v)
	}
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return nil
}

// away returns what a transfer waits for, in words, whose store cannot be opened because its
// content is not there or cannot be read at present. It returns "" if waiting is of no use.
func away(r metadata.Record, err error) string {
	var changed *store.ChangedError
	var exists *store.ExistsError
	var errno syscall.Errno
	switch {
	case !r.Begun, errors.As(err, &changed), errors.As(err, &exists):
		return ""
	case (errors.Is(err, store.ErrGone) || errors.Is(err, fs.ErrNotExist)) && r.Seed:
		return r.Root + ", which is not there: put it back, or give it up with `mob rm`"
	case errors.Is(err, store.ErrGone), errors.Is(err, fs.ErrNotExist):
		return r.Root + ", which is not there: put it back, `mob get` the link again to start over, or give it up with `mob rm`"
	case errors.As(err, &errno) && errno != syscall.ENOSPC && errno != syscall.EDQUOT:
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

// recheck rehashes the doubtful pieces of a store.
func (t *Transfer) recheck(ctx context.Context, st *store.Disk, v *store.Verifier) error {
	m := v.Manifest()
	doubtful := st.Doubtful()
	var total int64
	for i, d := range doubtful {
		if d {
			total += int64(m.PieceSize(i))
		}
	}
	if total == 0 {
		return nil
	}
	t.mu.Lock()
	t.mu.phase, t.mu.checked, t.mu.toCheck = Checking, 0, total
	t.mu.Unlock()
	err := store.Recheck(ctx, st, v, doubtful, func(piece int, _ store.Verdict) {
		t.mu.Lock()
		t.mu.checked += int64(m.PieceSize(piece))
		t.mu.Unlock()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
