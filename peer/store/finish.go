package store

import (
	"io/fs"
	"os"
	"time"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Finish implements [Store]. Each step can be repeated, so a Finish that a crash cut
// short starts over. Modes and times of symbolic links are not set. After Publish, Finish only flushes: the user may have
// changed the files.
func (d *Disk) Finish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	stage, err := d.readyToFinish()
	if stage == finished || err != nil {
		return err
	}
	// No new flush starts, as there is nothing left to commit.
	d.flush.Wait()
	// The bytes first: some file systems set the time when they write them out.
	if err := d.flushFiles(); err != nil {
		return err
	}
	if stage != shown {
		if err := d.publish(); err != nil {
			return err
		}
	}
	if err := d.tree.syncEntries(); err != nil {
		return d.flushed(err)
	}
	// Publish wrote nothing but modes and times, which a stamp has too.
	for _, file := range d.tree.unstamped.takeAll() {
		if err := d.stamp(file); err != nil {
			return err
		}
	}
	if err := d.recordWhole(); err != nil {
		return err
	}
	if err := d.journal.Sync(); err != nil {
		d.fail(err)
		return err
	}
	return d.end(finished)
}

// Publish implements [Store].
func (d *Disk) Publish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	if stage, err := d.readyToFinish(); stage != filling || err != nil {
		return err
	}
	if err := d.publish(); err != nil {
		return err
	}
	return d.end(shown)
}

// end makes the content read-only, unless a piece was forgotten meanwhile.
func (d *Disk) end(stage int32) error {
	d.mu.Lock()
	if d.Count() < d.m.Pieces() {
		d.mu.Unlock()
		return ErrNotWhole
	}
	d.stage.Store(stage)
	d.mu.Unlock()
	d.tree.makeReadOnly()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed // a file that could not be closed
}

// readyToFinish returns why the content cannot be published, and the stage, which Forget may change from then on.
func (d *Disk) readyToFinish() (stage int32, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		err = os.ErrClosed
	case d.failed != nil:
		err = d.failed
	case d.Count() < d.m.Pieces():
		err = ErrNotWhole
	}
	return d.stage.Load(), err
}

// recordWhole records that the content is whole.
func (d *Disk) recordWhole() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return os.ErrClosed
	case d.failed != nil:
		return d.failed
	case d.Count() < d.m.Pieces():
		return ErrNotWhole
	}
	return d.journal.Complete()
}

// publish makes everything but the bytes what the manifest says.
func (d *Disk) publish() error {
	if err := d.tree.createDirs(); err != nil {
		return err
	}
	if err := d.publishFiles(); err != nil {
		return err
	}
	if err := d.createLinks(); err != nil {
		return err
	}
	return d.tree.finishDirs()
}

// publishFiles gives all files their size, mode and time.
func (d *Disk) publishFiles() error {
	file, look := 0, looker{t: d.tree}
	for i := range d.m.Entries {
		e := &d.m.Entries[i]
		if e.Kind == proto.File && e.Size == 0 {
			if err := d.publishEmpty(i); err != nil {
				return err
			}
		}
		if e.Size == 0 {
			continue
		}
		if e.Kind == proto.File {
			if err := d.publishFile(file, e, &look); err != nil {
				return err
			}
		}
		file++
	}
	return nil
}

// publishFile gives a file of the layout its size, mode and time.
func (d *Disk) publishFile(file int, e *proto.Entry, look *looker) error {
	info, err := look.stat(file)
	if err != nil {
		return err
	}
	if !d.asLeft(file, info, e) {
		if err := d.setFile(file, e); err != nil {
			return err
		}
	}
	d.tree.settled.clear(file) // from now on, others may replace it
	return nil
}

// setFile is publishFile for a file that is not as it was left.
func (d *Disk) setFile(file int, e *proto.Entry) error {
	t := d.tree
	name := t.fileName(file)
	info, err := t.stat(file)
	if err != nil {
		return err
	}
	foreign := info == nil || vfs.StatOf(info).Inode != d.written(file)
	written := t.ready.has(file) || t.settled.has(file)
	if info == nil && !written { // removed since its pieces were stored: they are fetched again
		d.mu.Lock()
		defer d.mu.Unlock()
		if err := d.demoteFile(file, journal.Missing); err != nil {
			return err
		}
		return ErrNotWhole
	}
	if written && foreign {
		return &ChangedError{Path: t.fullPath(name), Reason: "it was removed or replaced"}
	}
	if written && info.Size() != e.Size {
		return &ChangedError{Path: t.fullPath(name), Reason: "its size differs"}
	}
	if d.changedSince(file, info) {
		return nil // its time is that of the change
	}
	if info.Size() < e.Size { // it would be extended by zeros
		return &ChangedError{Path: t.fullPath(name), Reason: "it was truncated"}
	}
	if info.Size() == e.Size && (foreign || t.hasMetadata(info, e)) {
		d.leave(file, info)
		return nil
	}
	// All of its pieces were found and none was written, if it is too long.
	if err := t.makeReady(file); err != nil {
		return err
	}
	h, err := t.files.acquire(t, file)
	if err != nil {
		return err
	}
	defer t.files.release(h)
	t.unstamped.set(file)
	// If a read or a flush opens it again, then not for writing: that would change its mode.
	t.ready.clear(file)
	if err := t.setMetadata(h.f, info, name, e); err != nil {
		return err
	}
	info, err = h.f.Stat()
	if err != nil {
		return t.withPath(name, err)
	}
	d.leave(file, info)
	return nil
}

// leave records how Publish left a file.
func (d *Disk) leave(file int, info fs.FileInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.published[file] = stampOf(vfs.StatOf(info))
}

// asLeft reports whether a file is as Publish or settle left it, and as it should be.
func (d *Disk) asLeft(file int, info fs.FileInfo, e *proto.Entry) bool {
	d.mu.Lock()
	left, ok := d.published[file]
	d.mu.Unlock()
	return ok && info != nil && left == stampOf(vfs.StatOf(info)) && info.Size() == e.Size && d.tree.hasMetadata(info, e)
}

// changedSince reports whether another program changed a file since it was published.
func (d *Disk) changedSince(file int, info fs.FileInfo) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, ok := d.published[file]
	return ok && was != stampOf(vfs.StatOf(info))
}

// publishEmpty creates an empty file, or makes the one that it created empty.
func (d *Disk) publishEmpty(entry int) error {
	t, name, e := d.tree, d.tree.name(entry), &d.m.Entries[entry]
	if f, info, err := t.openRegular(name, os.O_RDONLY); err == nil {
		_ = f.Close() // nothing was written
		if info.Size() == 0 && t.hasMetadata(info, e) || info.Size() > 0 && d.wasPublished() {
			return nil // in the second case, another program wrote to it since
		}
	}
	own := d.entry(entry)
	inode := own.Inode
	if own.Made {
		inode = 0 // unless it is still empty
	}
	if info, err := t.lstat(name); err == nil && info.Size() == 0 && info.Mode().IsRegular() {
		inode = vfs.StatOf(info).Inode // nothing in it is lost
	}
	f, err := t.openOrCreate(entry, inode)
	if err != nil {
		return err
	}
	defer t.closeFile(f)
	if f.created {
		err = d.madeEntry(entry, f.info)
	} else if f.info.Size() > 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		return err
	}
	return t.setMetadata(f, f.info, name, e)
}

// hasMetadata reports whether a file or directory has the mode and the time of e.
func (t *tree) hasMetadata(info fs.FileInfo, e *proto.Entry) bool {
	return info.Mode()&modeBits == t.mode(e, info) &&
		(e.MTime == proto.NoMTime || info.ModTime().UnixNano() == e.MTime)
}

// setMetadata gives an open file or directory, of which info is, its time, if the manifest has
// one, and its mode.
func (t *tree) setMetadata(f vfs.File, info fs.FileInfo, name string, e *proto.Entry) error {
	if e.MTime != proto.NoMTime {
		if err := t.root.Chtimes(name, time.Time{}, time.Unix(0, e.MTime)); err != nil {
			return t.withPath(name, err)
		}
	}
	return f.Chmod(t.mode(e, info))
}
