package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/proto"
)

// Open resumes a transfer or a seed after a restart. The arguments are those of
// [Create] or [Seed]. It stats every file but reads none: pieces that cannot be trusted
// become doubtful or missing, see [Disk.Doubtful].
//
// It fails with [ErrNoJournal], [ErrWrongContent] or [ErrGone].
func Open(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return open(dir, root, m, files, journal.CurrentBoot())
}

func open(dir, root string, m *proto.Manifest, files *Files, boot journal.BootID) (*Disk, error) {
	id, err := m.Digest()
	if err != nil {
		return nil, err
	}
	l := newLayout(m)
	j, err := journal.Open(journalPath(dir), id, m.Pieces(), l.files())
	if err != nil {
		return nil, err
	}
	d := newDisk(m, j)
	root, err = d.findRoot(root)
	if err == nil {
		err = j.Boot(boot)
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return d.start(root, files)
}

// findRoot checks that the destination exists. It creates the destination if it does
// not and no pieces were written to it.
func (d *Disk) findRoot(root string) (string, error) {
	resolved, err := filepath.Abs(root)
	if d.journal.Seed() && err == nil {
		resolved, err = resolve(root)
	}
	if err == nil {
		_, err = os.Lstat(resolved)
	}
	switch {
	case err == nil:
		return resolved, checkRoot(resolved, d.m)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case d.journal.Seed() || d.journal.Whole() || d.hasPieces():
		return "", fmt.Errorf("%s: %w", root, ErrGone)
	}
	if err := checkFree(resolved, d.m); err != nil {
		return "", err
	}
	return resolved, createRoot(resolved, d.m)
}

// hasPieces reports whether the journal has a piece that is verified or doubtful.
func (d *Disk) hasPieces() bool {
	for piece := range d.m.Pieces() {
		if d.journal.State(piece) != journal.Missing {
			return true
		}
	}
	return false
}

// start opens the files of a store that has its journal and compares them with it. If
// it fails, it closes the store.
func (d *Disk) start(root string, files *Files) (*Disk, error) {
	t, err := openTree(root, d.m, files)
	if err != nil {
		d.journal.Close()
		return nil, err
	}
	d.tree = t
	t.created = d.recordInode
	t.writable.Store(!d.journal.Whole())
	if err := d.inspect(); err != nil {
		d.Close()
		return nil, err
	}
	for piece := range d.m.Pieces() {
		if d.journal.State(piece) == journal.Verified {
			d.verified.set(piece)
		}
	}
	for _, piece := range d.journal.Unmarked() {
		// Written before the restart, and maybe not flushed since.
		first, after := t.layout.pieceFiles(d.m, piece)
		for file := first; file < after; file++ {
			t.dirty.set(file)
		}
		d.unsynced += int64(d.m.PieceSize(piece))
	}
	return d, nil
}

// recordInode records which file on disk a file of the content is.
func (d *Disk) recordInode(file int, number uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	if d.journal.Inode(file) == number {
		return nil
	}
	return d.journal.SetInode(file, number)
}
