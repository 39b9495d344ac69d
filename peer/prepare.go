package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// manifest gets the manifest, from the disk if it was fetched before.
func (t *Transfer) manifest(ctx context.Context, finder Finder) (*proto.Manifest, []proto.Member, error) {
	var members []proto.Member
	m, err := t.loadManifest()
	if err != nil {
		var b []byte
		if m, b, members, err = t.seekManifest(ctx, finder); err != nil {
			return nil, nil, err
		}
		if err = datadir.WriteFile(t.manifestPath(), b, 0o600); err != nil {
			return nil, nil, err
		}
	}
	t.mu.Lock()
	t.mu.manifest = m
	t.mu.Unlock()
	return m, members, nil
}

// openStore opens what is on disk, and hashes the pieces of it that are in doubt.
func (t *Transfer) openStore(ctx context.Context, m *proto.Manifest, reuse bool) (*store.Disk, []bool, error) {
	r, dir := t.record(), t.node.transferDir(t.ID)
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
		return nil, nil, err
	}
	if err := t.markBegun(); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	if err := t.recheck(ctx, st, m); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	verified, _ := st.Pieces()
	return st, verified, nil
}

// markBegun notes that what is at the root is this transfer's.
func (t *Transfer) markBegun() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.rec.Begun {
		return nil
	}
	t.mu.rec.Begun = true
	return saveRecord(t.node.transferDir(t.ID), t.mu.rec)
}

func (t *Transfer) recheck(ctx context.Context, st *store.Disk, m *proto.Manifest) error {
	_, doubtful := st.Pieces()
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
	err := store.Recheck(ctx, st, store.NewVerifier(m), doubtful, func(piece int, _ bool) {
		t.mu.Lock()
		t.mu.checked += int64(m.PieceSize(piece))
		t.mu.Unlock()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (t *Transfer) manifestPath() string {
	return filepath.Join(t.node.transferDir(t.ID), manifestFile)
}

func (t *Transfer) loadManifest() (*proto.Manifest, error) {
	b, err := os.ReadFile(t.manifestPath())
	if err != nil {
		return nil, err
	}
	return proto.DecodeVerified(t.ID, b)
}
