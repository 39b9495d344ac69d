package store

import (
	"os"

	"github.com/mobgrid/mob/peer/store/journal"
)

// Forget implements [Store]. If a file of the piece is missing, all pieces of that file
// are missing until it is created again, but the journal keeps them: a file system may not be
// mounted.
func (d *Disk) Forget(piece int) error {
	if err := checkPiece(d.m, piece); err != nil {
		return err
	}
	// Before the lock, which another goroutine may hold while it writes to the
	// journal.
	d.verified.clear(piece)
	missing := d.tree.missingFiles(piece)
	forgotten, err := d.recordForget(piece, missing)
	for _, file := range missing {
		d.tree.files.dropFile(d, file)
	}
	if forgotten && err == nil {
		if err = d.journal.Sync(); err != nil {
			d.fail(err)
		}
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return os.ErrClosed
	case d.verified.has(piece): // stored again since
		return nil
	case !d.journal.Seed():
		d.stage.Store(filling) // only now may a complete file be written to
	}
	d.reopen(piece)
	return nil
}

// missingFiles returns the files of a piece that are not there.
func (t *tree) missingFiles(piece int) (missing []int) {
	for file := range t.filesOf(piece) {
		if info, err := t.stat(file); err == nil && info == nil {
			missing = append(missing, file)
		}
	}
	return missing
}

// recordForget records that a piece is missing, unless it already is or files of it are
// missing.
func (d *Disk) recordForget(piece int, missing []int) (forgotten bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return false, err
	}
	d.drop(piece)
	for _, file := range missing {
		d.files.happened(file, fileMissing)
	}
	d.unload(missing)
	if len(missing) > 0 || d.journal.State(piece) == journal.Missing {
		return false, nil
	}
	return true, d.demote(piece)
}

// demote makes a piece missing. The caller holds the lock.
func (d *Disk) demote(piece int) error {
	d.drop(piece)
	return d.journal.Forget(piece)
}

// demoteFrom makes the pieces of a file missing that have bytes from an offset on. The caller holds the lock.
func (d *Disk) demoteFrom(file int, offset int64) error {
	t := d.tree
	if offset >= t.size(file) {
		return nil
	}
	_, after := t.filePieces(file)
	for piece := int((t.start(file) + offset) / int64(d.m.PieceLength)); piece < after; piece++ {
		if d.journal.State(piece) == journal.Missing {
			continue
		}
		if err := d.demote(piece); err != nil {
			return err
		}
	}
	return nil
}

// unload makes the pieces of missing files missing, but not in the journal. The files are in order.
func (d *Disk) unload(missing []int) {
	next := 0
	for _, file := range missing {
		first, after := d.tree.filePieces(file)
		for piece := max(first, next); piece < after; piece++ {
			d.drop(piece)
			d.reopen(piece)
		}
		next = max(next, after)
	}
}

// reopen records that the files of a piece will be written to.
func (d *Disk) reopen(piece int) {
	for file := range d.tree.filesOf(piece) {
		d.files.happened(file, pieceMissing)
	}
}
