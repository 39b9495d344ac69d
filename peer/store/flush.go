package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

const (
	// syncEvery is the number of bytes committed between two flushes.
	syncEvery = 256 << 20
	// From bulkFiles files on, the file system is flushed with one call if possible: one call for each
	// file takes longer.
	bulkFiles = 64
)

// flushState is the state of the flushes of a store.
type flushState struct {
	group    sync.WaitGroup // the running flush
	every    int64          // bytes committed between two flushes
	unsynced int64          // bytes committed since the start of the last flush
	running  bool
}

// startFlush starts a flush in the background. The caller holds the lock.
func (d *Disk) startFlush() {
	d.flush.running, d.flush.unsynced = true, 0
	covers := d.journal.Next()
	d.flush.group.Go(func() { flusher{d}.run(covers) })
}

// run flushes the files, then marks the records numbered below covers. The pieces
// of those records were written before they were appended, so they are flushed.
func (d flusher) run(covers uint32) {
	err := d.flush()
	d.mu.Lock()
	if err == nil {
		// If it fails, the pieces are hashed again after a crash.
		err = d.journal.Mark(covers)
	}
	d.Disk.flush.running = false
	d.mu.Unlock()
	if err != nil {
		return
	}
	// A kill of the process then costs no more than the files that it was writing.
	for _, file := range d.files.all(func(f *fileRecord) bool { return f.written && !f.dirty && f.state != fileGone }) {
		if d.complete(file) {
			_ = d.stamp(file) // without a stamp it is hashed again
		}
	}
	if err := d.journal.Sync(); err != nil {
		d.fail(err)
	}
}

// fail records that a flush has failed. All pieces are unverified that are not known
// to be on the disk: the kernel reports a failure once, and may drop the bytes. The
// page cache may differ from the disk then.
func (d *Disk) fail(cause error) {
	lost := make(map[int]bool)
	d.mu.Lock()
	if d.failed == nil {
		d.failed = fmt.Errorf("flush to disk: %w", cause)
	}
	for _, piece := range d.journal.Unmarked() {
		d.verified.clear(piece)
		d.unverified.set(piece)
		for file := range d.tree.layout.filesOf(piece) {
			lost[file] = true
		}
	}
	if len(lost) > 0 {
		// If the disk takes no record either, the files have no stamp.
		_ = d.journal.Boot(journal.BootID{})
	}
	d.mu.Unlock()
	for file := range lost {
		d.tree.dropCache(file)
	}
}

// stamp records the state of a file that was written to, unless another program changed or
// replaced it. Once the store has left the file, that is its state then, and a later change shows.
func (d *Disk) stamp(file int) (err error) {
	defer func() {
		if err != nil {
			d.files.update(file, func(f *fileRecord) { f.written = true })
		}
	}()
	// Before the state is read, which may be another after the next write.
	rec := d.files.update(file, func(f *fileRecord) { f.written = false })
	s := rec.Stamp
	switch {
	case s.Changed == 0 && rec.left(): // another program may have changed it since the last write
		return nil
	case s.Changed == 0:
		info, err := d.tree.stat(file)
		if err != nil || info == nil || info.Size() != d.tree.layout.size(file) {
			return err
		}
		if s = stampOf(info); !d.journal.Seed() && !d.tree.owns(d.tree.fileName(file), rec.File, info) {
			return nil // another file has the name by now
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recordStamp(file, s)
}

// recordStamp is stamp once the state is known. The caller holds the lock.
func (d *Disk) recordStamp(file int, s journal.Stamp) error {
	rec := d.files.at(file)
	if d.failed != nil || rec.foreign || rec.Inode != s.Inode && !d.journal.Seed() { // a user may replace the files of a seed
		return nil
	}
	rec.Stamp = s
	entry := d.tree.entry(file)
	if d.journal.File(entry) != rec.File {
		if err := d.journal.SetFile(entry, rec.File); err != nil {
			return err
		}
	}
	d.files.update(file, func(f *fileRecord) {
		if !f.written {
			f.Stamp = s
		}
	})
	return nil
}

// flusher waits until files of a store are on the disk.
type flusher struct{ *Disk }

// flush waits until all that was written is on the disk. A seed is not written to.
func (d flusher) flush() error {
	if d.journal.Seed() {
		return nil
	}
	err := d.sync()
	if err != nil {
		d.fail(err)
	}
	return err
}

// sync waits until all that was written to the files is on the disk.
func (d flusher) sync() error {
	if err := d.syncParts(); err != nil {
		return err
	}
	dirty := d.files.all(func(f *fileRecord) bool {
		was := f.dirty
		f.dirty = false
		return was
	})
	if done, err := d.tree.syncAll(len(dirty)); done {
		return err
	}
	for _, file := range dirty {
		if err := d.syncFile(file); err != nil {
			return err
		}
	}
	return d.tree.syncNames()
}

// syncEntries waits until all entries, with their modes and times, are on the disk. It leaves out what was removed or
// replaced since.
func (d flusher) syncEntries() error {
	t := d.tree
	// Where this is not possible, a crash may lose modes and times, but no bytes, and Open notices.
	if done, err := t.syncAll(len(t.m.Entries)); done {
		return err
	}
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		var err error
		switch {
		case e.Kind == proto.Dir:
			err = t.syncDir(t.name(i))
		case e.Kind == proto.File && e.Size > 0:
			err = d.syncFile(t.layout.file(i))
		case e.Kind == proto.File:
			err = d.syncEmpty(i)
		}
		if err != nil {
			return err
		}
	}
	if err := t.syncDir("."); err != nil {
		return err
	}
	return t.syncParent()
}

// syncFile flushes a file of the layout, unless it was removed or replaced: then its pieces will not be trusted.
func (d flusher) syncFile(file int) error {
	h, err := d.tree.files.acquire(d.Disk, file)
	if removed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.tree.files.release(h)
	return syncFile(h.f)
}

// dropCache makes the next reads of a file come from the disk.
func (t *tree) dropCache(file int) {
	f, _, err := t.openRegular(t.fileName(file), os.O_RDONLY)
	if err != nil {
		return // it cannot be read
	}
	f.DropCache()
	_ = f.Close() // nothing was written
}

// removed reports whether a file was not opened because it was removed or replaced.
func removed(err error) bool {
	var changed *ChangedError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &changed)
}

// syncNames flushes the directories in which files were created since the last flush.
func (t *tree) syncNames() error {
	t.names.mu.Lock()
	dirs := t.names.changed
	t.names.changed = make(map[string]bool)
	t.names.mu.Unlock()
	for dir := range dirs {
		if err := t.syncDir(dir); err != nil {
			return err
		}
	}
	if !dirs["."] {
		return nil
	}
	return t.syncParent()
}

// syncEmpty flushes an empty file of the store.
func (d flusher) syncEmpty(entry int) error {
	t, name := d.tree, d.tree.name(entry)
	info, err := t.find(name)
	if info == nil || !t.owns(name, d.entry(entry), info) {
		return err
	}
	f, _, err := d.openRead(entry)
	return t.syncOpen(name, f, err)
}

// syncDir flushes the names in a directory.
func (t *tree) syncDir(name string) error {
	f, err := t.openDir(name)
	return t.syncOpen(name, f, err)
}

// syncOpen flushes what was opened by a name, and closes it. It leaves what was removed or replaced.
func (t *tree) syncOpen(name string, f vfs.File, err error) error {
	if err != nil && notThere(err) {
		return nil
	}
	if err != nil {
		return t.withPath(name, err)
	}
	defer f.Close()
	return syncFile(f)
}

// syncParent flushes the name of the content itself.
func (t *tree) syncParent() error {
	f, err := t.files.fs.OpenFile(filepath.Dir(t.path), os.O_RDONLY, 0)
	if err != nil {
		return nil //nolint:nilerr // the parent is not ours to read
	}
	defer f.Close()
	return syncFile(f)
}

// syncAll flushes the whole file system of the root if there are many files, and all of them are on it. It reports false if it
// does not.
func (t *tree) syncAll(files int) (bool, error) {
	if files < bulkFiles || t.openTop() != nil {
		return false, nil
	}
	t.names.mu.Lock()
	top, mounts := t.names.top, t.names.mounts
	t.names.mu.Unlock()
	if mounts {
		return false, nil
	}
	return top.SyncFS()
}

// syncFile flushes a file or directory. Not all file systems can flush a directory.
func syncFile(f vfs.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
