package store

import (
	"io/fs"
	"os"
	"slices"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// TakeOver has the store write to the files and links that are at the names of the content, where they differ from it.
// They stay the user's: Remove leaves them. It must be called before the store is used.
func (d *Disk) TakeOver() error {
	return d.found(func(e *proto.Entry) bool { return e.Kind == proto.File || e.Kind == proto.Symlink })
}

// foundDirs records that the directories that exist are the user's, the root included.
func (d *Disk) foundDirs() error {
	if d.tree.single != "" {
		return nil
	}
	info, err := d.tree.lstat(".")
	if err != nil {
		return d.tree.withPath(".", err)
	}
	err = d.journal.SetEntry(len(d.m.Entries), journal.File{Inode: vfs.StatOf(info).Inode})
	if err != nil {
		return err
	}
	return d.found(func(e *proto.Entry) bool { return e.Kind == proto.Dir })
}

// found records some entries that exist as the user's.
func (d *Disk) found(some func(*proto.Entry) bool) error {
	t, file := d.tree, -1
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		if e.Size > 0 {
			file++
		}
		if !some(e) {
			continue
		}
		info, err := t.lstat(t.name(i))
		if err != nil && notThere(err) {
			continue
		}
		if err != nil {
			return &UnreadableError{Path: t.fullPath(t.name(i)), Err: withoutPath(err)}
		}
		f := journal.File{Inode: vfs.StatOf(info).Inode}
		switch {
		case e.Size > 0 && d.journal.File(file).Inode != f.Inode && info.Mode().IsRegular():
			err = d.journal.SetFile(file, f)
		case e.Size == 0 && d.journal.Entry(i).Inode != f.Inode:
			err = d.journal.SetEntry(i, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// claim records a file that the journal does not have, if the journal lost its record in a crash.
func (d *Disk) claim(file int, info fs.FileInfo, sameBoot bool) error {
	f, s, stamp := d.journal.File(file), vfs.StatOf(info), d.journal.Stamp(file)
	switch {
	case f.Inode == s.Inode:
		return nil
	case f.Inode == 0 && info.Size() == 0: // it was created, and nothing more
		f.Made = true
	case f.Inode != 0 && f.Inode == stamp.Inode && stamp.Changed == s.Changed && info.Size() == d.tree.layout.size(file):
		// The file system has new inode numbers. The time alone may be that of a file that was made in the same tick.
	case f.Inode != 0 && d.tree.inodeOf(d.tree.tempName(d.tree.fileName(file))) == f.Inode: // see separate
	case !sameBoot && (f.Inode != 0 && !f.Made || d.looksOurs(d.tree.entry(file), info)): // a power loss
	default:
		return nil
	}
	f.Inode = s.Inode
	return d.journal.SetFile(file, f)
}

// looksOurs reports whether the file of an entry has a mode that the store gives it.
func (d *Disk) looksOurs(e *proto.Entry, info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	return mode == transferFileMode || mode == d.tree.mode(e, info).Perm()
}

// touched records that a file was changed or replaced since it was stamped, or since all of it was verified.
func (d *Disk) touched(file int) error {
	f := d.journal.File(file)
	if !f.Made || f.Touched || d.journal.Stamp(file) == (journal.Stamp{}) && !d.tree.layout.every(d.m, file, d.journal.Verified) {
		return nil
	}
	f.Touched = true
	return d.journal.SetFile(file, f)
}

// entry returns what the journal has of an entry that is not a file with bytes.
func (d *Disk) entry(entry int) journal.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.Entry(entry)
}

// recordInode implements owner.
func (d *Disk) recordInode(entry int, inode uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	if d.m.Entries[entry].Size == 0 {
		f := d.journal.Entry(entry)
		f.Inode = inode
		return d.journal.SetEntry(entry, f)
	}
	file, _ := slices.BinarySearch(d.tree.layout.entries, int32(entry))
	f := d.journal.File(file)
	f.Inode = inode
	return d.journal.SetFile(file, f)
}

// inodeOf returns the inode number of the file with a name, 0 if there is none.
func (t *tree) inodeOf(name string) uint64 {
	info, err := t.root.Lstat(name)
	if err != nil {
		return 0
	}
	return vfs.StatOf(info).Inode
}

// madeEntry records that the store created what info describes.
func (d *Disk) madeEntry(entry int, info fs.FileInfo) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.journal.Entry(entry)
	return d.journal.SetEntry(entry, journal.File{Inode: vfs.StatOf(info).Inode, Made: was.Made || was.Inode == 0})
}
