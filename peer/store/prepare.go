package store

import (
	"os"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// prepared implements owner. It records which file on disk a file of the content is, and
// drops the pieces of one that was there and is not any more.
func (d *Disk) prepared(file int, f writable) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	var err error
	switch {
	case f.created || d.absent.has(file):
		err = d.demoteFile(file, journal.Missing)
		d.absent.clear(file)
	case !d.tree.unstamped.has(file) && d.journal.Stamp(file) != stampOf(vfs.StatOf(f.was)):
		// It was changed since the store was opened. From now on, this cannot be told
		// from what the store writes.
		d.tree.foreign.set(file)
	}
	if err == nil && !f.created {
		err = d.demoteBeyond(file, f.info.Size())
	}
	d.tree.unstamped.set(file)
	was := d.journal.File(file)
	is := journal.File{Inode: vfs.StatOf(f.info).Inode, Made: f.created || was.Made, Touched: !f.created && was.Touched}
	if err != nil || is == was {
		return err
	}
	return d.journal.SetFile(file, is)
}

// demoteBeyond drops the pieces that have bytes of a file beyond its size: the file was truncated since. The caller holds the
// lock.
func (d *Disk) demoteBeyond(file int, size int64) error {
	l := &d.tree.layout
	if size >= l.size(file) {
		return nil
	}
	first, after := int((l.starts[file]+size)/int64(d.m.PieceLength)), int((l.end(file)-1)/int64(d.m.PieceLength))+1
	return d.demotePieces(first, after, journal.Missing)
}

// foreign implements owner.
func (d *Disk) foreign(name string) error {
	info, err := d.tree.lstat(name)
	if err != nil {
		return d.tree.withPath(name, err)
	}
	if err := d.findAlias(name, vfs.StatOf(info)); err != nil {
		return err
	}
	return &ExistsError{Path: d.tree.fullPath(name), Inside: d.tree.single == ""}
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
	return d.journal.File(file).Inode
}
