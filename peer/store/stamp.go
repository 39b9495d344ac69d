package store

import (
	"io/fs"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// stampOf returns the stamp of the state in which a file is.
func stampOf(s vfs.Stat) journal.Stamp { return journal.Stamp{Changed: s.Changed, Inode: s.Inode} }

// stampWritten stamps the files that were written to and are closed. A file without its
// stamp is hashed again.
func (d *Disk) stampWritten() {
	d.mu.Lock()
	failed := d.failed != nil
	d.mu.Unlock()
	if failed {
		return // they may not have what was written
	}
	for _, file := range d.tree.unstamped.takeAll() {
		// A file that is not stamped now is hashed again.
		_ = d.stamp(file)
	}
}

// stampComplete stamps the files that were written to, of which all is verified and
// flushed. It makes a kill of the process cost no more than the files that it was writing.
func (d *Disk) stampComplete() {
	t := d.tree
	for file := range t.layout.files() {
		if !t.unstamped.has(file) || t.dirty.has(file) || !d.complete(file) {
			continue
		}
		// Before its state is read, which may be another after the next write.
		t.unstamped.clear(file)
		if d.stamp(file) != nil {
			t.unstamped.set(file)
		}
	}
}

// complete reports whether all pieces of a file are verified.
func (d *Disk) complete(file int) bool { return d.tree.layout.every(d.m, file, d.verified.has) }

// stamp records the state of a file that was written to, unless another program changed or
// replaced it. For one that was published that is how it was left then: if it is not so any
// more, the stamp tells.
func (d *Disk) stamp(file int) error {
	d.mu.Lock()
	left, published := d.published[file]
	if published {
		defer d.mu.Unlock()
		return d.recordStamp(file, left)
	}
	d.mu.Unlock()
	info, err := d.tree.stat(file)
	if err != nil || info == nil || info.Size() != d.tree.layout.size(file) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if left, published := d.published[file]; published {
		return d.recordStamp(file, left)
	}
	return d.recordStamp(file, stampOf(vfs.StatOf(info)))
}

// recordStamp is stamp once the state is known. The caller holds the lock.
func (d *Disk) recordStamp(file int, s journal.Stamp) error {
	inode := d.journal.File(file).Inode
	if d.failed != nil || d.tree.foreign.has(file) || inode != 0 && inode != s.Inode || d.journal.Stamp(file) == s {
		return nil
	}
	return d.journal.SetStamp(file, s)
}

// Stamps are the states of files at one moment.
type Stamps map[int]journal.Stamp

// Changed returns the stamps of the files that were changed since the store left or verified them.
func (d *Disk) Changed() Stamps {
	changed := make(Stamps)
	for file := range d.tree.layout.files() {
		left := d.leftAs(file)
		if left == (journal.Stamp{}) {
			continue
		}
		if info, err := d.tree.stat(file); err == nil && info != nil && stampOf(vfs.StatOf(info)) != left {
			changed[file] = stampOf(vfs.StatOf(info))
		}
	}
	return changed
}

// Accept records stamps that Changed returned before all pieces were hashed, for the files without a damaged piece.
// Look does not report these files any more.
func (d *Disk) Accept(changed Stamps) error {
	for file, s := range changed {
		if !d.complete(file) {
			continue
		}
		d.mu.Lock()
		if left, ok := d.published[file]; ok && left.Inode == s.Inode {
			d.published[file] = s
		}
		err := d.recordStamp(file, s)
		d.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// stamped reports whether a file is as it was when its pieces were recorded.
func (d *Disk) stamped(file int, info fs.FileInfo) bool {
	return info.Size() == d.tree.layout.size(file) && d.journal.Stamp(file) == stampOf(vfs.StatOf(info))
}
