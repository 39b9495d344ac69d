package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	written := d.files.all(func(f *fileRecord) bool { return f.written && !f.dirty && f.state != fileGone })
	written = slices.DeleteFunc(written, func(file int) bool { return !d.complete(file) })
	_ = d.stamp(written) // without a stamp a file is hashed again
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
		d.unverify(piece)
		for file := range d.tree.filesOf(piece) {
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

// stamp records the states of files that were written to, unless another program changed or
// replaced them. Once the store has left a file, that is its state then, and a later change shows.
func (d *Disk) stamp(files []int) (failed error) {
	states := make(Stamps)
	for _, file := range files {
		// Before the state is read, which may be another after the next write.
		rec := d.files.update(file, func(f *fileRecord) { f.written = false })
		s, err := d.lastState(file, rec)
		if s != (journal.Stamp{}) {
			states[file] = s
		}
		if err != nil {
			d.files.update(file, func(f *fileRecord) { f.written = true })
		}
		failed = cmp.Or(failed, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.recordStamps(states)
	for file := range states {
		d.files.update(file, func(f *fileRecord) { f.written = f.written || err != nil })
	}
	return cmp.Or(failed, err)
}

// lastState returns the state in which the store has left a file, or zero if another program may have changed it since.
func (d *Disk) lastState(file int, rec fileRecord) (s journal.Stamp, err error) {
	switch {
	case rec.Changed != 0:
		return rec.Stamp, nil
	case rec.state == fileFinal:
		return s, nil
	}
	info, err := d.tree.stat(file)
	if err != nil || info == nil || info.Size() != d.tree.size(file) {
		return s, err
	}
	if !d.journal.Seed() && !d.tree.owns(d.tree.name(file), rec.File, info) {
		return s, nil // another file has the name by now
	}
	return stampOf(info), nil
}

// recordStamps is stamp once the states are known. The caller holds the lock.
func (d *Disk) recordStamps(states Stamps) error {
	if d.failed != nil {
		return nil
	}
	records := make(map[int]journal.File)
	for file, s := range states {
		rec := d.files.at(file)
		if rec.foreign || rec.Inode != s.Inode && !d.journal.Seed() { // a user may replace the files of a seed
			delete(states, file)
			continue
		}
		rec.Stamp = s
		if d.journal.File(file) != rec.File {
			records[file] = rec.File
		}
	}
	if err := d.journal.SetFiles(records); err != nil {
		return err
	}
	for file, s := range states {
		d.files.update(file, func(f *fileRecord) {
			if !f.written {
				f.Stamp = s
			}
		})
	}
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
	if err := d.parts.sync(); err != nil {
		return err
	}
	dirty := d.files.all(func(f *fileRecord) bool {
		was := f.dirty
		f.dirty = false
		return was
	})
	dirs := d.tree.names.take()
	return d.tree.syncAll(len(dirty)+len(dirs), func() error {
		for _, file := range dirty {
			if err := d.syncFile(file); err != nil {
				return err
			}
		}
		return d.tree.syncNames(dirs)
	})
}

// setAllDirty has the next flush cover all entries, with their modes and times. Where a directory cannot be flushed, a crash may
// lose these, but no bytes, and Open notices.
func (d flusher) setAllDirty() {
	for i := range d.m.Entries {
		switch d.m.Entries[i].Kind {
		case proto.Dir:
			d.tree.names.note(d.tree.name(i))
		case proto.File:
			d.files.update(i, func(f *fileRecord) { f.dirty = true })
		}
	}
	d.tree.names.note(".")
}

// syncFile flushes a file, unless it was removed or replaced: then its pieces will not be trusted. An empty file may be the user's.
func (d flusher) syncFile(file int) error {
	if d.tree.size(file) == 0 {
		if info, err := d.tree.stat(file); info == nil || !d.owns(file, info) {
			return err
		}
	}
	h, err := d.tree.files.acquire(d.Disk, file)
	if removed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.tree.files.release(h)
	return vfs.Sync(h.f)
}

// dropCache makes the next reads of a file come from the disk.
func (t *tree) dropCache(file int) {
	f, _, err := t.openRegular(t.name(file), os.O_RDONLY)
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

// syncNames flushes directories.
func (t *tree) syncNames(dirs map[string]bool) error {
	for dir := range dirs {
		if err := t.syncDir(dir); err != nil {
			return err
		}
	}
	if !dirs["."] || t.single() {
		return nil
	}
	return t.syncParent()
}

// syncDir flushes the names in a directory. It leaves one that was removed or replaced.
func (t *tree) syncDir(name string) error {
	f, err := t.openDir(name)
	if err != nil && notThere(err) {
		return nil
	}
	if err != nil {
		return t.withPath(name, err)
	}
	defer f.Close()
	return vfs.Sync(f)
}

// syncParent flushes the name of the content itself.
func (t *tree) syncParent() error {
	f, err := t.files.fs.OpenFile(filepath.Dir(t.path), os.O_RDONLY, 0)
	if err != nil {
		return nil //nolint:nilerr // the parent is not ours to read
	}
	defer f.Close()
	return vfs.Sync(f)
}

// syncAll flushes the whole file system of the root if there are many files, or no descriptors to open them. Otherwise it calls
// each.
func (t *tree) syncAll(files int, each func() error) error {
	if files < bulkFiles {
		if err := each(); !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return err
		}
	}
	if done, err := t.syncFS(); done {
		return err
	}
	return each()
}

// syncFS flushes the file system of the root. It reports false if the system has no such call, or some files are on another one.
func (t *tree) syncFS() (bool, error) {
	if t.openTop() != nil {
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
