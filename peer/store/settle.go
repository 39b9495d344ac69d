package store

import (
	"io/fs"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// settle gives the small files of a piece that was just committed, and are whole by that, their
// modes and times while they are still open, so that Publish need not open them again. It leaves
// to Publish what is not open any more, what was there before, and whatever fails.
func (d *Disk) settle(piece int) {
	if !d.finishing.TryRLock() {
		return
	}
	defer d.finishing.RUnlock()
	first, after := d.tree.layout.pieceFiles(d.m, piece)
	for file := first; file < after; file++ {
		// Others are few, and to look at all of their pieces each time takes long.
		if d.tree.layout.size(file) <= int64(d.m.PieceLength) {
			d.settleFile(file)
		}
	}
}

// settleFile is settle for a file that the store created.
func (d *Disk) settleFile(file int) {
	t := d.tree
	h := t.files.acquireOpen(t, file)
	if h == nil {
		return
	}
	defer t.files.release(h)
	if !d.beginSettle(file) {
		return
	}
	info, err := h.f.Stat()
	if err != nil || info.Size() != t.layout.size(file) || vfs.StatOf(info).Links > 1 {
		return
	}
	if !t.setByHandle(h.f, &t.m.Entries[t.layout.entries[file]]) {
		return
	}
	if info, err = h.f.Stat(); err == nil {
		d.endSettle(file, info)
	}
}

// beginSettle reports whether a file can be settled: all of it is verified, and nobody else
// has changed or settled it. From then on it is opened for reading only, as opening it for
// writing would change its mode.
func (d *Disk) beginSettle(file int) bool {
	t := d.tree
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.failed != nil || !t.ready.has(file) || !d.journal.File(file).Made || t.foreign.has(file) || !d.complete(file) {
		return false
	}
	t.settled.set(file)
	t.ready.clear(file)
	return true
}

// endSettle notes how a file was left, unless a piece of it was forgotten meanwhile.
func (d *Disk) endSettle(file int, info fs.FileInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := vfs.StatOf(info)
	if d.complete(file) && !d.tree.ready.has(file) && d.journal.File(file).Inode == s.Inode {
		d.published[file] = stampOf(s)
		d.tree.unstamped.set(file) // a flush meanwhile may have stamped it as it was before
	}
}

// setByHandle gives an open file the time and the mode of e. It reports whether it did.
func (t *tree) setByHandle(f vfs.File, e *proto.Entry) bool {
	if e.MTime != proto.NoMTime {
		if done, err := f.SetModTime(time.Unix(0, e.MTime)); !done || err != nil {
			return false
		}
	}
	return f.Chmod(t.mode(e, nil)) == nil
}
