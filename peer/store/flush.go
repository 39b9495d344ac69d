package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/mobgrid/mob/peer/store/journal"
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
	err := d.tree.sync()
	d.mu.Lock()
	if err == nil {
		err = d.journal.Mark(covers)
	} else {
		d.loseUnsynced(err)
	}
	d.syncing = false
	d.mu.Unlock()
	if err == nil {
		// If it fails, a crash may lose records, and their pieces are hashed again.
		_ = d.journal.Sync()
	}
}

// loseUnsynced makes all pieces doubtful that are not known to be on the disk after a
// flush has failed: the kernel reports a failure once, and may drop the bytes. The
// caller holds the lock.
func (d *Disk) loseUnsynced(cause error) {
	d.syncErr = fmt.Errorf("flush to disk: %w", cause)
	for _, piece := range d.journal.Unmarked() {
		// If the disk takes no record either, there is no more to do.
		_ = d.demote(piece, journal.Doubtful)
	}
}

// sync waits until all that was written to the files is on the disk.
func (t *tree) sync() error {
	dirty := t.dirty.takeAll()
	if len(dirty) >= bulkFiles {
		if done, err := t.syncAll(); done {
			return err
		}
	}
	for _, file := range dirty {
		if t.layout.pad(file) {
			continue
		}
		h, err := t.files.acquire(t, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removed it; its pieces will not be trusted
		}
		if err != nil {
			return err
		}
		err = h.f.Sync()
		t.files.release(h)
		if err != nil {
			return err
		}
	}
	return nil
}

// syncAll flushes the whole file system. It reports false if that is not possible.
func (t *tree) syncAll() (bool, error) {
	f, err := t.root.Open(".")
	if err != nil {
		return true, err
	}
	defer f.Close()
	return syncFileSystem(f)
}
