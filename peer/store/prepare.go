package store

import (
	"os"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// prepared implements owner. It records which file on disk a file of the content is, and
// drops the pieces of one that was there and is not any more.
func (d *Disk) prepared(file int, f writable) error {
	s := vfs.StatOf(f.info)
	if !f.created && d.wasAbsent(file) {
		if err := d.findAlias(d.tree.fileName(file), s); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	was := vfs.StatOf(f.was)
	var err error
	switch {
	case f.created || d.absent.has(file):
		err = d.demoteFile(file, journal.Missing)
		d.absent.clear(file)
	case (d.tree.ready.has(file) || d.tree.settled.has(file)) && d.journal.Inode(file) != was.Inode:
		// It was replaced since the last write.
		d.tree.foreign.set(file)
		err = d.demoteFile(file, journal.Doubtful)
	case !d.tree.unstamped.has(file) && d.journal.Stamp(file) != stampOf(was):
		// It was changed since the store was opened. From now on, this cannot be told
		// from what the store writes.
		d.tree.foreign.set(file)
	}
	d.tree.unstamped.set(file)
	if err != nil || d.journal.Inode(file) == s.Inode {
		return err
	}
	return d.journal.SetInode(file, s.Inode)
}

func (d *Disk) wasAbsent(file int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.absent.has(file)
}

// written implements owner.
func (d *Disk) written(file int) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.journal.Seed() {
		return d.journal.Stamp(file).Inode
	}
	return d.journal.Inode(file)
}
