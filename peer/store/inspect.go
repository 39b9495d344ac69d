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

// inspect compares every file with the journal and makes the pieces of those that
// differ doubtful. Pieces of a missing file are missing, but the journal keeps them until
// another file is created there: what is missing may be a mount. A fresh journal has lost
// nothing: files that it does not have are the user's. The store is not in use yet.
func (d *Disk) inspect(boot journal.BootID, fresh bool) error {
	sameBoot := d.journal.SameBoot(boot)
	if err := d.journal.Boot(boot); err != nil {
		return err
	}
	keys, sized := make([]uint64, 0, d.tree.layout.files()), true
	look := looker{t: d.tree}
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) || d.absent.has(file) {
			continue
		}
		info, err := look.stat(file)
		if err != nil {
			return err
		}
		if info == nil {
			d.absent.set(file)
			continue
		}
		if s := vfs.StatOf(info); s.Inode != 0 && s.Links == 1 {
			keys = append(keys, fileKey64(s))
		}
		d.tree.noteDevice(info)
		sized = sized && info.Size() == d.tree.layout.size(file)
		if !d.journal.Seed() && !fresh {
			err = d.claim(file, info, sameBoot)
		}
		if err == nil {
			err = d.inspectFile(file, info)
		}
		if err != nil {
			return err
		}
	}
	if !d.journal.Seed() {
		if err := d.tree.findAliases(keys); err != nil {
			return err
		}
	}
	d.loadPieces()
	if d.journal.Seed() {
		d.stage.Store(finished)
		return nil
	}
	if !d.journal.Whole() || !sized || d.absent.count() > 0 {
		return nil
	}
	lacks, err := d.tree.lacksEntries()
	if !lacks {
		d.stage.Store(finished)
	}
	return err
}

// noteEmpty notes that none of the files is there, as the directory of the content was just
// created. The store is not in use yet.
func (d *Disk) noteEmpty() {
	for file := range d.tree.layout.files() {
		if !d.tree.layout.pad(file) {
			d.absent.set(file)
		}
	}
}

// checkThere returns [ErrGone] if none of the content's files is there.
func (d *Disk) checkThere() error {
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			continue
		}
		if info, err := d.tree.stat(file); err != nil || info != nil {
			return err
		}
	}
	return fmt.Errorf("%s has none of the files: %w", d.tree.path, ErrGone)
}

// inspectFile compares a file with its stamp.
func (d *Disk) inspectFile(file int, info fs.FileInfo) error {
	if d.stamped(file, info) {
		return nil
	}
	if err := errors.Join(d.touched(file), d.demoteFile(file, journal.Doubtful)); err != nil {
		return err
	}
	// A flush may have failed before the restart.
	d.tree.dropCache(file)
	// What the journal says now is true of the file as it is.
	return d.journal.SetStamp(file, stampOf(vfs.StatOf(info)))
}

// doubtFound makes the pieces doubtful of which all files are there.
func (d *Disk) doubtFound() error {
	l := &d.tree.layout
	missing := newBitset(d.m.Pieces())
	for file := range l.files() {
		if l.pad(file) {
			continue
		}
		info, err := d.tree.stat(file)
		if err != nil {
			return err
		}
		first, after := l.filePieces(d.m, file)
		for piece := first; info == nil && piece < after; piece++ {
			missing.set(piece)
		}
	}
	for piece := range d.m.Pieces() {
		if missing.has(piece) {
			continue
		}
		if err := d.journal.Found(piece); err != nil {
			return err
		}
	}
	return nil
}

// loadPieces sets what the journal has, but for pieces of missing files.
func (d *Disk) loadPieces() {
	for piece := range d.m.Pieces() {
		switch d.journal.State(piece) {
		case journal.Verified:
			d.verified.set(piece)
		case journal.Doubtful:
			d.doubtful.set(piece)
		}
	}
	for _, file := range d.absent.all() {
		d.unload(file)
	}
}

// unload makes the pieces of a missing file missing, but not in the journal.
func (d *Disk) unload(file int) {
	first, after := d.tree.layout.filePieces(d.m, file)
	for piece := first; piece < after; piece++ {
		d.verified.clear(piece)
		d.doubtful.clear(piece)
		d.reopen(piece)
	}
}

// reopen records that the files of a piece will be written to. The caller holds the lock.
func (d *Disk) reopen(piece int) {
	first, after := d.tree.layout.pieceFiles(d.m, piece)
	for file := first; file < after; file++ {
		delete(d.published, file)
	}
}

// demoteFile demotes the pieces of a file to a state, but for those already there or
// below. The caller holds the lock.
func (d *Disk) demoteFile(file int, to journal.State) error {
	first, after := d.tree.layout.filePieces(d.m, file)
	return d.demotePieces(first, after, to)
}

// demotePieces is demoteFile for the pieces from first to before after. The caller holds the lock.
func (d *Disk) demotePieces(first, after int, to journal.State) error {
	for piece := first; piece < after; piece++ {
		if d.journal.State(piece) <= to {
			continue
		}
		if err := d.demote(piece, to); err != nil {
			return err
		}
	}
	return nil
}

// stat describes a file. It returns nil if it is not there or not a regular file.
func (t *tree) stat(file int) (fs.FileInfo, error) {
	name := t.fileName(file)
	info, err := t.lstat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		return info, nil
	case err == nil, notThere(err):
		return nil, nil
	}
	return nil, t.unreadable(file, err)
}

// lstat describes what has a name.
func (t *tree) lstat(name string) (info fs.FileInfo, err error) {
	err = t.permit(-1, filepath.Dir(name), func() (err error) {
		info, err = t.root.Lstat(name)
		return err
	})
	return info, err
}

// lacksEntries reports whether an empty file, a directory or a symbolic link is missing.
func (t *tree) lacksEntries() (bool, error) {
	for i := range t.m.Entries {
		if e := &t.m.Entries[i]; e.Kind == proto.Pad || e.Size > 0 {
			continue
		}
		if _, err := t.lstat(t.name(i)); err != nil && notThere(err) {
			return true, nil
		} else if err != nil {
			return false, t.withPath(t.name(i), err)
		}
	}
	return false, nil
}
