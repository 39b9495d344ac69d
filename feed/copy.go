package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// A version whose content the node has at another path, such as in the directory of another feed, is copied from there. The copy is not
// served, since the other one is. Its journal and manifest are in a directory of the state, for its removal.
const manifestFile = "manifest"

func (f *Follower) copyDir(seq uint64) string {
	return filepath.Join(f.State, "copy-"+strconv.FormatUint(seq, 10))
}

// copyVersion copies the files at root, which are complete.
func (f *Follower) copyVersion(ctx context.Context, m *proto.Manifest, root string, seq uint64) error {
	if _, err := f.removeCopy(seq); err != nil { // a crash has cut it short
		return err
	}
	dir := f.copyDir(seq)
	encoded, err := m.Encode()
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), datadir.WriteFile(filepath.Join(dir, manifestFile), encoded, 0o600)); err != nil {
		return err
	}
	d, err := store.Create(dir, f.path(seq), m, f.Node.Files())
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	from := delta.NewBase(m, opener(root))
	err = store.InParallel(ctx, m.Pieces(), func(i int) error {
		if d.Has(i) {
			return nil
		}
		p := make([]byte, m.PieceSize(i))
		if !from.Read(i, p) || sha256.Sum256(p) != m.Hash(i) {
			return fmt.Errorf("%s has the content of the version, and was changed: `mob verify` it", root)
		}
		if _, err := d.WriteAt(p, m.PieceOffset(i)); err != nil {
			return err
		}
		return d.Commit(i)
	})
	if err == nil {
		err = d.Finish()
	}
	return errors.Join(err, d.Close())
}

// removeCopy removes a copy, if there is one. It returns the files that are left.
func (f *Follower) removeCopy(seq uint64) (left []store.Left, err error) {
	dir := f.copyDir(seq)
	encoded, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, os.RemoveAll(dir) // nothing was created
	}
	m, err := proto.DecodeManifest(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if left, err = store.Remove(dir, f.path(seq), m); err != nil {
		return left, err
	}
	return left, os.RemoveAll(dir)
}
