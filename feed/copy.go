package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// A version of which nothing is fetched is written without a transfer: content that was sent with the head, and content that the
// node has at another path, such as in the directory of another feed. Its journal and manifest are in a directory of the state, for
// its removal.
const manifestFile = "manifest"

// serveDelay is the time before a transfer serves such a version. The next version may replace it by then, and the handshakes of a
// swarm have more bytes than small content.
const serveDelay = 30 * time.Second

const copyPrefix = "copy-"

func (f *Follower) copyDir(seq uint64) string {
	return filepath.Join(f.State, copyPrefix+strconv.FormatUint(seq, 10))
}

// copies returns the versions that were written without a transfer.
func (f *Follower) copies() (all []uint64, err error) {
	entries, err := os.ReadDir(f.State)
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), copyPrefix)
		if seq, err := strconv.ParseUint(number, 10, 64); ok && err == nil {
			all = append(all, seq)
		}
	}
	return all, err
}

// copyVersion writes a version whose pieces are known. The caller calls flush, if there is no error.
func (f *Follower) copyVersion(ctx context.Context, m *proto.Manifest, from delta.Pieces, seq uint64) (flush func() error, err error) {
	d, err := f.openCopy(m, seq)
	if err != nil {
		return nil, err
	}
	err = store.InParallel(ctx, m.Pieces(), func(i int) error {
		if d.Has(i) {
			return nil
		}
		p := make([]byte, m.PieceSize(i))
		if !from.Read(i, p) || sha256.Sum256(p) != m.Hash(i) {
			return fmt.Errorf("piece %d of version %d is missing or corrupt", i, seq)
		}
		if _, err := d.WriteAt(p, m.PieceOffset(i)); err != nil {
			return err
		}
		return d.Commit(i)
	})
	if err == nil {
		err = d.Publish()
	}
	if err != nil {
		err = errors.Join(err, d.Close())
		_, removed := f.removeCopy(seq)
		return nil, errors.Join(err, removed)
	}
	return func() error { return errors.Join(d.Finish(), d.Close()) }, nil
}

// openCopy creates the store of a version, or opens it again after a crash.
func (f *Follower) openCopy(m *proto.Manifest, seq uint64) (*store.Disk, error) {
	dir := f.copyDir(seq)
	if d, err := store.Open(dir, f.path(seq), m, f.Node.Files()); err == nil {
		return d, nil
	}
	if _, err := f.removeCopy(seq); err != nil {
		return nil, err
	}
	encoded, err := m.Encode()
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(f.Dir, 0o777), os.WriteFile(filepath.Join(dir, manifestFile), encoded, 0o600))
	}
	if err != nil {
		return nil, err
	}
	d, err := store.Create(dir, f.path(seq), m, f.Node.Files())
	if err != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return d, err
}

// removeCopy removes a version that was written without a transfer. It returns the files that are left.
func (f *Follower) removeCopy(seq uint64) (left []store.Left, err error) {
	dir := f.copyDir(seq)
	encoded, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := proto.DecodeManifest(encoded)
	if err != nil { // it is written before anything is created
		return nil, os.RemoveAll(dir)
	}
	if left, err = store.Remove(dir, f.path(seq), m); err != nil {
		return left, err
	}
	return left, os.RemoveAll(dir)
}

// removeServed removes a version that a transfer serves.
func (f *Follower) removeServed(t *peer.Transfer, seq uint64) (left []store.Left, err error) {
	_, err = os.Stat(f.copyDir(seq))
	written := err == nil
	if left, err = f.Node.Remove(t, !written); err != nil || !written {
		return left, err
	}
	return f.removeCopy(seq)
}

// serve starts a transfer that serves the newest version, if there is none.
func (f *Follower) serve(h *Head) {
	if len(f.kept.Versions) == 0 {
		return
	}
	dir := f.kept.Versions[len(f.kept.Versions)-1]
	encoded, err := os.ReadFile(filepath.Join(f.copyDir(dir), manifestFile))
	if err != nil {
		return // a transfer has fetched it
	}
	if _, err := f.Node.Transfer(h.Link.String()); err == nil {
		return
	}
	if _, err := f.Node.Get(h.Link, f.path(dir), peer.GetOptions{Manifest: encoded, Reuse: true}); err != nil {
		f.Log.Warn("the newest version is not served", "version", h.Seq, "error", err)
	}
}
