package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/mobgrid/mob/peer/store/journal"
)

// staleFile is a file of a whole content that was modified since.
type staleFile struct {
	file  int
	mtime int64 // Unix nanoseconds
}

// inspect compares every file with the journal and makes the pieces of those that
// differ doubtful or missing. The store is not in use yet.
func (d *Disk) inspect() error {
	before := d.journal.Next()
	for file := range d.tree.layout.files() {
		if d.tree.layout.pad(file) {
			continue
		}
		info, err := d.tree.stat(file)
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
	// Before any write: after a crash, a new file must not be taken for the one
	// that it replaces.
	return d.journal.Sync()
}

// inspectWhole compares a file of a whole content.
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

// inspectPart compares a file of a content that is not whole. Its modification time
// does not matter.
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

// demoteFile demotes the pieces of a file to a state, but for those already there or
// below.
func (d *Disk) demoteFile(file int, to journal.State) error {
	first, after := d.tree.layout.filePieces(d.m, file)
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

// mtime returns the modification time that a file of a whole content should have. The
// caller holds the lock, unless the store is not in use yet.
func (d *Disk) mtime(file int) int64 {
	if at, ok := d.journal.MTime(file); ok {
		return at
	}
	return d.m.Entries[d.tree.layout.entries[file]].MTime
}

// stat describes a file. It returns nil if it is not there or not a regular file.
func (t *tree) stat(file int) (fs.FileInfo, error) {
	name := t.fileName(file)
	info, err := t.root.Lstat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		return info, nil
	case err == nil, notThere(err):
		return nil, nil
	}
	return nil, t.withPath(name, err)
}

// notThere reports whether an error of an [os.Root] means that there is no such file below
// it: because the file is missing, or something is in its way.
func notThere(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno == syscall.ENOTDIR || errno == syscall.ELOOP
	}
	// A directory was replaced by a link that leads out of the root.
	return !errors.Is(err, os.ErrClosed)
}
