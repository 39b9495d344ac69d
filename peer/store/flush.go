package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

const (
	// syncEvery is how many bytes are committed between two flushes.
	syncEvery = 256 << 20
	// bulkFiles is the number of files from which the whole file system is flushed
	// if possible, since the disk takes its time for each single file.
	bulkFiles = 64
)

// startFlush starts a flush in the background. The caller holds the lock.
func (d *Disk) startFlush() {
	d.syncing, d.unsynced = true, 0
	covers := d.journal.Next()
	d.flush.Go(func() { d.runFlush(covers) })
}

// runFlush flushes the files, then marks the records numbered below covers. The pieces
// of those records were written before they were appended, so they are flushed.
func (d *Disk) runFlush(covers uint32) {
	err := d.flushFiles()
	d.mu.Lock()
	if err == nil {
		// If it fails, the pieces are hashed again after a crash.
		err = d.journal.Mark(covers)
	}
	d.syncing = false
	d.mu.Unlock()
	if err != nil {
		return
	}
	d.stampComplete()
	if err := d.journal.Sync(); err != nil {
		d.fail(err)
	}
}

// flushFiles waits until all that was written is on the disk. Nobody writes to a seed.
func (d *Disk) flushFiles() error {
	if d.journal.Seed() {
		return nil
	}
	err := d.tree.sync()
	if err != nil {
		d.fail(err)
	}
	return err
}

// flushError reports that bytes may not have reached the disk.
type flushError struct{ error }

func (e flushError) Unwrap() error { return e.error }

// flushed returns err, after having failed if it is a [flushError].
func (d *Disk) flushed(err error) error {
	var lost flushError
	if errors.As(err, &lost) {
		d.fail(err)
	}
	return err
}

// fail implements owner. A flush has failed, so all pieces are doubtful that are not known
// to be on the disk: the kernel reports a failure once, and may drop the bytes. What it
// still has of them in memory is not what is on the disk.
func (d *Disk) fail(cause error) {
	d.mu.Lock()
	if d.failed == nil {
		d.failed = fmt.Errorf("flush to disk: %w", cause)
	}
	lost := newBitset(d.tree.layout.files())
	for _, piece := range d.journal.Unmarked() {
		// If the disk takes no record either, the file has no stamp.
		_ = d.demote(piece, journal.Doubtful)
		first, after := d.tree.layout.pieceFiles(d.m, piece)
		for file := first; file < after; file++ {
			lost.set(file)
		}
	}
	d.mu.Unlock()
	for _, file := range lost.all() {
		d.tree.dropCache(file)
	}
}

// dropCache makes the next reads of a file come from the disk.
func (t *tree) dropCache(file int) {
	if t.layout.pad(file) {
		return
	}
	f, _, err := t.openRegular(t.fileName(file), os.O_RDONLY)
	if err != nil {
		return // nobody can read it
	}
	f.DropCache()
	_ = f.Close() // nothing was written
}

// sync waits until all that was written to the files is on the disk.
func (t *tree) sync() error {
	dirty := t.dirty.takeAll()
	if len(dirty) >= bulkFiles && t.syncsAll() {
		if done, err := t.syncAll(); done {
			return err
		}
	}
	for _, file := range dirty {
		if t.layout.pad(file) {
			continue
		}
		if err := t.syncFile(file); err != nil {
			return err
		}
	}
	return t.syncNames()
}

// removed reports whether a file was not opened because it was removed or replaced.
func removed(err error) bool {
	var changed *ChangedError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &changed)
}

// syncEntries waits until all entries, with their modes and times, are on the disk. It leaves out what was removed or
// replaced since.
func (t *tree) syncEntries() error {
	if len(t.m.Entries) >= bulkFiles && t.syncsAll() {
		// Where this is not possible, a crash may lose modes and times, but no
		// bytes, and Open notices.
		if done, err := t.syncAll(); done {
			return err
		}
	}
	file := -1
	for i := range t.m.Entries {
		e := &t.m.Entries[i]
		if e.Size > 0 {
			file++
		}
		var err error
		switch {
		case e.Kind == proto.Dir:
			err = t.syncDir(t.name(i))
		case e.Kind == proto.File && e.Size > 0:
			err = t.syncFile(file)
		case e.Kind == proto.File:
			err = t.syncEmpty(t.name(i))
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
func (t *tree) syncFile(file int) error {
	h, err := t.files.acquire(t, file)
	if removed(err) {
		return nil
	}
	if err != nil {
		return flushError{err}
	}
	defer t.files.release(h)
	return syncFile(h.f)
}

// syncEmpty flushes a file without bytes.
func (t *tree) syncEmpty(name string) error {
	var f vfs.File
	err := t.permit(-1, name, func() (err error) {
		f, _, err = t.openRegular(name, os.O_RDONLY)
		return err
	})
	if removed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFile(f)
}

// syncNames flushes the directories in which files were created since the last flush.
func (t *tree) syncNames() error {
	t.mu.Lock()
	dirs := t.renamed
	t.renamed = make(map[string]bool)
	t.mu.Unlock()
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

// syncDir flushes the names in a directory.
func (t *tree) syncDir(name string) error {
	f, err := t.openDir(name)
	if err != nil && notThere(err) {
		return nil // it was removed or replaced
	}
	if err != nil {
		return flushError{t.withPath(name, err)}
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

// syncsAll reports whether a flush of the root's file system covers all files.
func (t *tree) syncsAll() bool {
	if t.openTop() != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.mounts
}

// syncAll flushes the whole file system. It reports false if that is not possible.
func (t *tree) syncAll() (bool, error) {
	t.mu.Lock()
	top := t.top
	t.mu.Unlock()
	done, err := top.SyncFS()
	if err != nil {
		err = flushError{err}
	}
	return done, err
}

// syncFile flushes a file or directory. Not all file systems can flush a directory.
func syncFile(f vfs.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return flushError{err}
	}
	return nil
}
