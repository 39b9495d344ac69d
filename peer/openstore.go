package peer

import (
	"context"
	"errors"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
)

// openStore opens or creates the store at the transfer's root, and rehashes doubtful pieces.
func (t *Transfer) openStore(ctx context.Context, v *store.Verifier, reuse bool) (*store.Disk, error) {
	m, r, dir := v.Manifest(), t.record(), t.node.transferDir(t.ID)
	st, err := store.Open(dir, r.Root, m, t.node.files)
	switch {
	case errors.Is(err, store.ErrNoJournal) && r.Seed:
		st, err = store.Seed(dir, r.Root, m, t.node.files)
	case errors.Is(err, store.ErrNoJournal) && (reuse || r.Begun):
		st, err = store.Adopt(dir, r.Root, m, t.node.files)
	case errors.Is(err, store.ErrNoJournal):
		st, err = store.Create(dir, r.Root, m, t.node.files)
	}
	if err != nil {
		return nil, err
	}
	if err := t.markBegun(); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if err := t.recheck(ctx, st, v); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
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
