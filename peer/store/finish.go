package store

import (
	"os"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Finish implements [Store]. Each step can be repeated, so a Finish that a crash cut
// short starts over. Modes and times of symbolic links are not set.
func (d *Disk) Finish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	if done, err := d.readyToFinish(); done || err != nil {
		return err
	}
	// No new flush starts, as there is nothing left to commit.
	d.flush.Wait()
	// The bytes first: some file systems set the time when they write them out.
	if err := d.tree.sync(); err != nil {
		return err
	}
	mtimes, err := d.tree.publish()
	if err != nil {
		return err
	}
	if err := d.recordWhole(mtimes); err != nil {
		return err
	}
	if err := d.journal.Sync(); err != nil {
		return err
	}
	d.tree.makeReadOnly()
	return nil
}

// Publish implements [Store].
func (d *Disk) Publish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	if done, err := d.readyToFinish(); done || err != nil {
		return err
	}
	if _, err := d.tree.publish(); err != nil {
		return err
	}
	d.tree.makeReadOnly()
	return nil
}

// readyToFinish returns why the content cannot be published, and whether Finish is
// done.
func (d *Disk) readyToFinish() (done bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return false, os.ErrClosed
	case d.syncErr != nil:
		return false, d.syncErr
	case d.Count() < d.m.Pieces():
		return false, ErrNotWhole
	}
	return d.journal.Whole(), nil
}

// recordWhole records that the content is whole, with the modification times that its
// files have.
func (d *Disk) recordWhole(mtimes []int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	for file, mtime := range mtimes {
		if mtime == d.mtime(file) {
			continue
		}
		if err := d.journal.SetMTime(file, mtime); err != nil {
			return err
		}
	}
	return d.journal.Complete()
}

// publish makes everything but the bytes what the manifest says. It returns the
// modification times that the files of the layout got.
func (t *tree) publish() ([]int64, error) {
	if err := t.createDirs(); err != nil {
		return nil, err
	}
	mtimes, err := t.finishFiles()
	if err != nil {
		return nil, err
	}
	if err := t.createLinks(); err != nil {
		return nil, err
	}
	return mtimes, t.finishDirs()
}

// bulk reports whether there are so many entries that flushing the whole file system
// is faster than flushing each.
func (t *tree) bulk() bool { return len(t.m.Entries) >= bulkFiles }

// finishFiles gives all files their size, mode and time. It returns the times that
// those of the layout got, which may be coarser than in the manifest.
func (t *tree) finishFiles() ([]int64, error) {
	mtimes := make([]int64, 0, t.layout.files())
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		switch {
		case e.Kind == proto.File && e.Size == 0:
			if err := t.finishEmpty(i); err != nil {
				return nil, err
			}
		case e.Kind == proto.File:
			mtime, err := t.finishFile(len(mtimes), e)
			if err != nil {
				return nil, err
			}
			mtimes = append(mtimes, mtime)
		case e.Size > 0: // padding, which has no time of its own
			mtimes = append(mtimes, e.MTime)
		}
	}
	return mtimes, nil
}

// finishFile finishes a file of the layout and returns its modification time.
func (t *tree) finishFile(file int, e *proto.Entry) (mtime int64, err error) {
	// If all of its pieces were found and none was written, it may be too long.
	if err := t.makeReady(file); err != nil {
		return 0, err
	}
	h, err := t.files.acquire(t, file)
	if err != nil {
		return 0, err
	}
	defer t.files.release(h)
	name := t.fileName(file)
	info, err := h.f.Stat()
	if err != nil {
		return 0, err
	}
	// The open file may not be the one in the directory any more.
	now, err := t.stat(file)
	if err != nil {
		return 0, err
	}
	if now == nil || !os.SameFile(info, now) {
		return 0, &ChangedError{Path: t.fullPath(name), Reason: "it was removed or replaced"}
	}
	if info.Size() != e.Size {
		return 0, &ChangedError{Path: t.fullPath(name), Reason: "its size differs"}
	}
	if err := t.setMetadata(h.f, name, e); err != nil {
		return 0, err
	}
	now, err = t.stat(file)
	if err != nil || now == nil {
		return 0, err
	}
	return now.ModTime().UnixNano(), nil
}

// finishEmpty creates or finishes an empty file.
func (t *tree) finishEmpty(entry int) error {
	name := t.name(entry)
	f, info, err := t.openOrCreate(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > 0 {
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	return t.setMetadata(f, name, &t.m.Entries[entry])
}

// setMetadata gives an open file or directory its time, if the manifest has one, and
// its mode.
func (t *tree) setMetadata(f *os.File, name string, e *proto.Entry) error {
	if e.MTime != proto.NoMTime {
		if err := t.root.Chtimes(name, time.Time{}, time.Unix(0, e.MTime)); err != nil {
			return t.withPath(name, err)
		}
	}
	if err := f.Chmod(os.FileMode(e.Mode)); err != nil {
		return err
	}
	if t.bulk() {
		return nil
	}
	return syncFile(f)
}
