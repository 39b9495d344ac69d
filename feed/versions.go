package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// maxPartial bounds the incomplete versions on the disk, if new ones come faster than they are fetched.
const maxPartial = 3

// startVersion records that a version will be created. It removes the oldest incomplete ones, or all of them if the disk was full. The latest
// one stays, also if the follower was stopped before its command ended.
func (f *follower) startVersion(h *Head) {
	all := slices.DeleteFunc(slices.Clone(f.kept.Versions), func(seq uint64) bool { return seq == h.Seq })
	latest, _ := versionLink(f.latest())
	complete, _ := slices.BinarySearch(all, max(f.kept.Complete, latest)+1)
	old := len(all) - complete
	if !f.full {
		old = max(0, old-maxPartial+1)
	}
	f.removeAll(all[complete:][:old])
	all = slices.Delete(all, complete, complete+old)
	at, _ := slices.BinarySearch(all, h.Seq)
	f.change(func() {
		f.kept.Head, f.kept.Versions = h.signed, slices.Insert(all, at, h.Seq)
		if f.kept.IDs == nil {
			f.kept.IDs = make(map[uint64]string)
		}
		f.kept.IDs[h.Seq] = h.Link.Manifest.String()
	})
}

// settle records a complete version, and removes old ones.
func (f *follower) settle(h *Head, v *Version) {
	all := f.kept.Versions
	complete, _ := slices.BinarySearch(all, f.kept.Complete+1)
	first := max(0, complete+1-f.keep) // of those that are kept
	f.removeAll(all[:first])
	f.removeAll(slices.DeleteFunc(slices.Clone(all[complete:]), func(seq uint64) bool { return seq == h.Seq }))
	f.change(func() {
		f.kept.Versions = append(slices.Clone(all[first:complete]), h.Seq)
		f.kept.Complete, f.kept.Saved, f.kept.Last = h.Seq, f.kept.Saved+v.Saved, v.Saved
	})
	if err := f.save(); err != nil {
		f.fail(err, "a complete version was not recorded", "version", h.Seq)
	}
}

// removeAll removes versions. Those that cannot be removed are in the log.
func (f *follower) removeAll(versions []uint64) {
	for _, seq := range versions {
		left, err := f.remove(seq)
		if err != nil {
			f.log.Warn("an old version was not removed", "path", f.path(seq), "error", err)
		}
		if len(left) > 0 {
			f.log.Info("files of an old version stay, since they are not the follower's or were changed", "path", f.path(seq), "files", len(left))
		}
		f.change(func() { delete(f.kept.IDs, seq) })
	}
}

// remove removes a version as far as this node made it. It returns the files that are left.
func (f *follower) remove(seq uint64) (left []store.Left, err error) {
	copied := f.copied(seq)
	if t, err := f.node.Transfer(f.kept.IDs[seq]); err == nil { // other content at the path, and a seed, are the user's
		if st := t.Progress(); st.Root == f.path(seq) && !st.Seed {
			if left, err = f.node.Remove(t, !copied); err != nil {
				return left, err
			}
		}
	}
	if copied {
		return f.removeCopy(seq)
	}
	return left, nil
}

// A version of which nothing is fetched is written without a transfer: content that was sent with the head, and content that the
// node has at another path, such as in the directory of another feed. Its journal and manifest are in a directory of the state, for
// its removal, and for the transfer that serves it.
const (
	copyPrefix   = "copy-"
	manifestFile = "manifest"
)

// serveDelay is the time before a transfer serves such a version, unless the publisher leaves. The next version may replace it by
// then, and the handshakes of a swarm have more bytes than small content.
const serveDelay = 30 * time.Second

func (f *follower) copyDir(seq uint64) string {
	return filepath.Join(f.state, copyPrefix+strconv.FormatUint(seq, 10))
}

func (f *follower) copied(seq uint64) bool {
	_, err := os.Stat(f.copyDir(seq))
	return err == nil
}

// copies returns the versions that were written without a transfer.
func (f *follower) copies() (all []uint64) {
	found, _ := fs.Glob(os.DirFS(f.state), copyPrefix+"*") // the pattern is valid
	for _, name := range found {
		if seq, err := strconv.ParseUint(name[len(copyPrefix):], 10, 64); err == nil {
			all = append(all, seq)
		}
	}
	return all
}

// copyVersion writes a version whose pieces the origins have. After an error there is nothing of it.
func (f *follower) copyVersion(ctx context.Context, m *proto.Manifest, encoded []byte, origins []peer.Origin, seq uint64) (*store.Disk, error) {
	d, err := f.openCopy(m, encoded, seq)
	if err != nil {
		return nil, err
	}
	unverified, verifier := d.Unverified(), store.NewVerifier(m)
	err = store.InParallel(ctx, m.Pieces(), func(i int) error {
		if unverified[i] { // the process was killed since it was written
			if good, err := verifier.Check(d, i); err == nil && good {
				return d.Commit(i)
			}
		}
		if d.Has(i) {
			return nil
		}
		found, err := peer.TakePiece(d, verifier, origins, i)
		if err == nil && !found {
			err = fmt.Errorf("piece %d of version %d is missing or corrupt", i, seq)
		}
		return err
	})
	if err == nil {
		err = d.Publish()
	}
	if err != nil {
		err = errors.Join(err, d.Close())
		_, removed := f.removeCopy(seq)
		return nil, errors.Join(err, removed)
	}
	return d, nil
}

// openCopy creates the store of a version, or opens it again after the process was killed.
func (f *follower) openCopy(m *proto.Manifest, encoded []byte, seq uint64) (*store.Disk, error) {
	if err := f.node.CheckPath(f.path(seq)); err != nil {
		return nil, err
	}
	dir := f.copyDir(seq)
	if f.copied(seq) {
		if d, err := store.Open(dir, f.path(seq), m, f.node.Files()); err == nil {
			return d, nil
		}
		if _, err := f.removeCopy(seq); err != nil {
			return nil, err
		}
	}
	err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(f.dir, 0o777), os.WriteFile(filepath.Join(dir, manifestFile), encoded, 0o600))
	var d *store.Disk
	if err == nil {
		d, err = store.Create(dir, f.path(seq), m, f.node.Files())
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return d, nil
}

// removeCopy removes a version that was written without a transfer. It returns the files that are left. What was seeded since is
// the user's, and stays.
func (f *follower) removeCopy(seq uint64) (left []store.Left, err error) {
	dir := f.copyDir(seq)
	if err := f.node.CheckPath(f.path(seq)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	encoded, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if m, err := proto.DecodeManifest(encoded); err == nil { // it is written before anything is created
		if left, err = store.Remove(dir, f.path(seq), m, store.NewFiles(1)); err != nil {
			return left, err
		}
	}
	return left, os.RemoveAll(dir)
}

// serve serves the newest version, if it is complete.
func (f *follower) serve(h *Head) {
	if h != nil && h.Seq == f.kept.Complete {
		f.serveCopy(h)
	}
}

// serveDuring serves a version while its command runs, which ends ctx.
func (f *follower) serveDuring(ctx context.Context, h *Head) {
	select {
	case <-time.After(serveDelay):
	case <-f.left:
	case <-ctx.Done():
		return
	}
	f.serveCopy(h)
}

// serveCopy starts a transfer that serves a version, if there is none. It continues the journal, so files that the user has
// replaced stay.
func (f *follower) serveCopy(h *Head) {
	dir := f.copyDir(h.Seq)
	encoded, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return // a transfer has fetched it
	}
	if _, err := f.node.Transfer(h.Link.String()); err == nil {
		return
	}
	journal, err := os.ReadFile(filepath.Join(dir, store.JournalFile))
	if err == nil {
		_, err = f.node.Get(h.Link, f.path(h.Seq), peer.GetOptions{Manifest: encoded, Journal: journal, Permanent: true})
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		f.log.Warn("the newest version is not served", "version", h.Seq, "error", err)
	}
}
