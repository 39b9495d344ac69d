package store

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Finish implements [Store]. Each step can be done again, so that a Finish cut
// short by a crash is repeated as a whole. The modes and times of symbolic links
// are left as they come.
func (d *Disk) Finish() error {
	d.finishing.Lock()
	defer d.finishing.Unlock()
	if done, err := d.readyToFinish(); done || err != nil {
		return err
	}
	// No new flush starts, since all that Commit could add is there.
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

// publish makes everything but the bytes what the manifest says. It returns the
// times that the files with content got.
func (t *tree) publish() ([]int64, error) {
	if err := t.makeFolders(); err != nil {
		return nil, err
	}
	mtimes, err := t.finishFiles()
	if err != nil {
		return nil, err
	}
	if err := t.makeLinks(); err != nil {
		return nil, err
	}
	return mtimes, t.finishFolders()
}

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

// recordWhole makes the journal say that the content is whole, with the times
// that its files have.
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

// bulk reports whether there are so many entries that flushing the file system is
// better than flushing each.
func (t *tree) bulk() bool { return len(t.m.Entries) >= bulkFiles }

// finishFiles gives all files their size, mode and time, and returns the times
// that those with content got, which may be coarser than asked for.
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
		case e.Size > 0: // padding has no time to remember
			mtimes = append(mtimes, e.MTime)
		}
	}
	return mtimes, nil
}

// finishFile finishes a file with content, which is there already.
func (t *tree) finishFile(file int, e *proto.Entry) (mtime int64, err error) {
	// All its pieces may have been found, and none written, with more after them.
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
	// It may have been open for long, and not be the one in the folder any more.
	there, err := t.look(file)
	if err != nil {
		return 0, err
	}
	if there == nil || !os.SameFile(info, there) {
		return 0, &ChangedError{Path: t.fullPath(name), Reason: "it was removed or replaced"}
	}
	if info.Size() != e.Size {
		return 0, &ChangedError{Path: t.fullPath(name), Reason: "its size is another"}
	}
	if err := t.stamp(h.f, name, e); err != nil {
		return 0, err
	}
	if there, err = t.look(file); err != nil || there == nil {
		return 0, err
	}
	return there.ModTime().UnixNano(), nil
}

// finishEmpty makes or finishes a file without content.
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
	return t.stamp(f, name, &t.m.Entries[entry])
}

// stamp gives an open file or folder its time, if it is known, and its mode.
func (t *tree) stamp(f *os.File, name string, e *proto.Entry) error {
	if e.MTime != proto.NoMTime {
		if err := t.root.Chtimes(name, time.Time{}, time.Unix(0, e.MTime)); err != nil {
			return t.explain(name, err)
		}
	}
	if err := f.Chmod(os.FileMode(e.Mode)); err != nil {
		return err
	}
	if t.bulk() {
		return nil
	}
	return syncFolder(f)
}

// syncFolder flushes a folder or file; not all file systems can do it for folders.
func syncFolder(f *os.File) error {
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
