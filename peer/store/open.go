package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Open resumes a transfer or a seed after a restart. The arguments are those of
// [Create] or [Seed]. It stats every file but reads none: pieces that cannot be trusted
// become doubtful or missing, see [Disk.Doubtful]. A content that was whole and is not any
// more can be written to again, unless it is a seed.
//
// It fails with [ErrNoJournal], [ErrWrongContent], [ErrGone], [*AliasError], or
// [*UnreadableError] if the disk or the network fails. After ErrGone and UnreadableError,
// a later try may succeed; nothing was changed.
func Open(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return open(dir, root, m, files, journal.CurrentBoot())
}

func open(dir, root string, m *proto.Manifest, files *Files, boot journal.BootID) (*Disk, error) {
	id, err := m.Digest()
	if err != nil {
		return nil, err
	}
	l := newLayout(m)
	j, err := journal.Open(files.fs, journalPath(dir), id, m.Pieces(), l.files())
	if errors.Is(err, journal.ErrNone) || errors.Is(err, journal.ErrOther) {
		return nil, err
	}
	if err != nil {
		return nil, &UnreadableError{Path: journalPath(dir), Err: withoutPath(err)}
	}
	d := newDisk(m, j)
	root, err = d.findRoot(files.fs, root, d.hasPieces(&l, boot))
	if err != nil {
		j.Close()
		return nil, err
	}
	if err := d.openTree(root, files); err != nil {
		return nil, err
	}
	if d.hasPieces(&l, boot) {
		if err := d.checkThere(); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d.start(boot)
}

// findRoot checks that the destination exists. It creates the destination if it does
// not and no pieces were written to it.
func (d *Disk) findRoot(fsys vfs.FS, root string, hasPieces bool) (string, error) {
	resolved, err := filepath.Abs(root)
	if d.journal.Seed() && err == nil {
		resolved, err = resolve(fsys, root)
	}
	if err == nil {
		_, err = fsys.Lstat(resolved)
	}
	switch {
	case err == nil:
		return resolved, checkRoot(fsys, resolved, d.m)
	case !errors.Is(err, fs.ErrNotExist):
		return "", &UnreadableError{Path: root, Err: withoutPath(err)}
	case d.journal.Seed() || d.journal.WasWhole() || hasPieces:
		return "", fmt.Errorf("%s: %w", root, ErrGone)
	}
	if err := checkFree(fsys, resolved, d.m); err != nil {
		return "", err
	}
	if err := d.journal.Sync(); err != nil { // as in Create
		return "", err
	}
	return resolved, cannotCreate(resolved, createRoot(fsys, resolved, d.m))
}

// hasPieces reports whether the journal has a piece of a file that a crash of the machine
// cannot have lost.
func (d *Disk) hasPieces(l *layout, boot journal.BootID) bool {
	for piece := range d.m.Pieces() {
		if !d.journal.Lasting(piece, boot) {
			continue
		}
		for file, after := l.pieceFiles(d.m, piece); file < after; file++ {
			if !l.pad(file) {
				return true
			}
		}
	}
	return false
}

// openTree opens the files of a store that has its journal. If it fails, it closes that.
func (d *Disk) openTree(root string, files *Files) error {
	d.tree = newTree(root, d.m, files)
	d.tree.owner, d.tree.temp, d.tree.ours = d, tempPrefix(d.journal.Manifest()), !d.journal.Seed()
	if err := d.tree.open(); err != nil {
		return errors.Join(err, d.journal.Close())
	}
	d.absent = newBitset(d.tree.layout.files())
	return nil
}

// start compares the files with the journal. If it fails, it closes the store.
func (d *Disk) start(boot journal.BootID) (*Disk, error) {
	if err := d.inspect(boot); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, piece := range d.journal.Unmarked() {
		// Written before the restart, and maybe not flushed since.
		d.setDirty(piece)
		d.unsynced += int64(d.m.PieceSize(piece))
	}
	return d, nil
}

// setDirty notes that the next flush has to cover a piece.
func (d *Disk) setDirty(piece int) {
	first, after := d.tree.layout.pieceFiles(d.m, piece)
	for file := first; file < after; file++ {
		d.tree.dirty.set(file)
	}
}
