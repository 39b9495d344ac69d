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
	// bulkFiles is from how many files on the whole file system is flushed, if
	// it can be: each file on its own costs a turn of the disk.
	bulkFiles = 64
)

// startFlush starts a flush in the background. The caller has the lock.
func (d *Disk) startFlush() {
	d.syncing, d.unsynced = true, 0
	covers := d.journal.Next()
	d.flush.Go(func() { d.runFlush(covers) })
}

// runFlush flushes the files, then marks the records numbered below covers. All
// that those records are about was written before they were appended, so it is in
// the files now.
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
		// Only helps the records to be there after a crash. If it fails, so will
		// something that is reported.
		_ = d.journal.Sync()
	}
}

// loseUnsynced makes all pieces doubtful that are not known to be on the disk,
// when a flush has failed: the kernel reports such a failure once and may drop
// the bytes. The caller has the lock.
func (d *Disk) loseUnsynced(cause error) {
	d.syncErr = fmt.Errorf("flush to disk: %w", cause)
	for _, piece := range d.journal.Unmarked() {
		// If the disk takes no record either, there is no more to do.
		_ = d.demotePiece(piece, journal.Doubtful)
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
			continue // removed by somebody; nothing of it will be trusted
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

// syncAll flushes the whole file system. It reports false where that cannot be
// done.
func (t *tree) syncAll() (bool, error) {
	f, err := t.root.Open(".")
	if err != nil {
		return true, err
	}
	defer f.Close()
	return syncFileSystem(f)
}
