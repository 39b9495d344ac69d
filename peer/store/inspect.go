package store

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/mobgrid/mob/peer/store/journal"
)

// staleFile is a file of a whole content that was modified since, and when.
type staleFile struct {
	file  int
	mtime int64 // Unix nanoseconds
}

// inspect compares every file with the journal, and takes trust from the pieces
// of those that differ. The store is not in use yet.
func (d *Disk) inspect() error {
	before := d.journal.Next()
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			continue
		}
		info, err := d.tree.look(file)
		if err != nil {
			return err
		}
		if info == nil {
			err = d.demoteFile(file, journal.Missing)
		} else if d.journal.Whole() {
			err = d.inspectWhole(file, info)
		} else {
			err = d.inspectPart(file, info)
		}
		if err != nil {
			return err
		}
	}
	if d.journal.Next() == before {
		return nil
	}
	// Before anything is written: a new file in place of one that is gone must
	// not be taken for it after a crash.
	return d.journal.Sync()
}

// inspectWhole looks at a file of a whole content.
func (d *Disk) inspectWhole(file int, info fs.FileInfo) error {
	sized := info.Size() == d.tree.layout.size(file)
	if sized {
		d.tree.ready.set(file)
	}
	mtime := info.ModTime().UnixNano()
	if sized && mtime == d.mtime(file) {
		return nil
	}
	d.stale = append(d.stale, staleFile{file, mtime})
	return d.demoteFile(file, journal.Doubtful)
}

// inspectPart looks at a file of a content that is not whole. Its modification
// time says nothing.
func (d *Disk) inspectPart(file int, info fs.FileInfo) error {
	number, known := inode(info), d.journal.Inode(file)
	sized := info.Size() == d.tree.layout.size(file)
	if sized && number == known {
		d.tree.ready.set(file)
		return nil
	}
	if err := d.demoteFile(file, journal.Doubtful); err != nil || !sized {
		return err
	}
	d.tree.ready.set(file)
	return d.journal.SetInode(file, number)
}

// demoteFile makes the pieces of a file doubtful or missing that are better now.
func (d *Disk) demoteFile(file int, to journal.State) error {
	first, after := d.tree.layout.filePieces(d.m, file)
	for piece := first; piece < after; piece++ {
		if d.journal.State(piece) <= to {
			continue
		}
		if err := d.demotePiece(piece, to); err != nil {
			return err
		}
	}
	return nil
}

// mtime is the modification time that a file of a whole content should have. The
// caller has the lock.
func (d *Disk) mtime(file int) int64 {
	if at, ok := d.journal.MTime(file); ok {
		return at
	}
	return d.m.Entries[d.tree.layout.entries[file]].MTime
}

// look describes a file, or returns nil when there is no such regular file.
func (t *tree) look(file int) (fs.FileInfo, error) {
	name := t.fileName(file)
	info, err := t.root.Lstat(name)
	var errno syscall.Errno
	switch {
	case err == nil && info.Mode().IsRegular():
		return info, nil
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &errno) && errno != syscall.ENOTDIR && errno != syscall.ELOOP:
		return nil, t.explain(name, err)
	}
	// Among others: a folder was replaced by a link that leads out of root.
	return nil, nil
}

// Changed reports whether a file that the piece touches was changed by another
// program, and which: it is gone, has another size or, when the content is whole,
// another modification time. It reads no content. A file that was not there yet
// is not changed.
func (d *Disk) Changed(piece int) (path string, changed bool) {
	if checkPiece(d.m, piece) != nil {
		return "", false
	}
	l := &d.tree.layout
	first, after := l.pieceFiles(d.m, piece)
	for file := first; file < after; file++ {
		d.mu.Lock()
		whole, mtime := d.journal.Whole(), d.mtime(file)
		d.mu.Unlock()
		if l.pad(file) || !whole && !d.tree.ready.has(file) {
			continue
		}
		info, err := d.tree.look(file)
		if err != nil || info == nil || info.Size() != l.size(file) || whole && info.ModTime().UnixNano() != mtime {
			return d.tree.fullPath(d.tree.fileName(file)), true
		}
	}
	return "", false
}
