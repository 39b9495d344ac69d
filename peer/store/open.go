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
	at, err := d.findRoot(files.fs, root, d.hasPieces(&l, boot))
	if err != nil {
		j.Close()
		return nil, err
	}
	defer at.close()
	if err := d.openTree(at, files); err != nil {
		return nil, err
	}
	if d.hasPieces(&l, boot) {
		if err := d.checkThere(); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d.start(boot, false)
}

// findRoot opens the destination. It creates the destination if it does not exist and no pieces were written to it.
func (d *Disk) findRoot(fsys vfs.FS, root string, hasPieces bool) (at *place, err error) {
	path, err := filepath.Abs(root)
	if d.journal.Seed() && err == nil {
		path, err = resolve(fsys, root)
	}
	begun := d.journal.Seed() || d.journal.WasWhole() || hasPieces
	if err == nil && begun {
		at, err = openPlace(fsys, path)
	} else if err == nil {
		at, err = openFree(fsys, path)
	}
	if err == nil {
		err = d.findIn(at, begun)
	}
	var unreadable *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && begun:
		err = fmt.Errorf("%s: %w", root, ErrGone)
	case errors.As(err, &unreadable):
		err = &UnreadableError{Path: root, Err: unreadable.Err}
	}
	if err != nil && at != nil {
		at.close()
	}
	return at, err
}

// findIn is findRoot for a place.
func (d *Disk) findIn(at *place, begun bool) error {
	err := at.check(d.m)
	if begun || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.journal.Sync(); err != nil { // as in Create
		return err
	}
	return at.create(d.m)
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
func (d *Disk) openTree(at *place, files *Files) error {
	d.tree = newTree(at.path, d.m, files)
	d.tree.owner, d.tree.temp, d.tree.ours = d, tempPrefix(d.journal.Manifest()), !d.journal.Seed()
	if err := d.tree.open(at); err != nil {
		return errors.Join(err, d.journal.Close())
	}
	d.absent = newBitset(d.tree.layout.files())
	return nil
}

// start compares the files with the journal, which is fresh if it has just been created. If it fails, it closes the
// store.
func (d *Disk) start(boot journal.BootID, fresh bool) (*Disk, error) {
	if err := d.inspect(boot, fresh); err != nil {
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
