package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// The file of parts has the bytes of left-out files, where a piece has bytes of another file too: without them the piece can
// be neither verified nor served. It is sparse, and has them at their offsets in the stream.

// partsNumber is its number among the open files.
const partsNumber = -1

func (d *Disk) openParts() (vfs.File, error) {
	f, err := d.tree.files.state.OpenFile(d.partsPath, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		f.DropCache() // a flush may have failed before: what is hashed must be on the disk
	}
	return f, err
}

// useParts calls use with the open file.
func (d *Disk) useParts(use func(f vfs.File) (int, error)) (int, error) {
	h, err := d.tree.files.acquire(d, partsNumber)
	if err != nil {
		return 0, cannotRead(d.partsPath, err)
	}
	defer d.tree.files.release(h)
	return use(h.f)
}

// readParts fills p. What was never written is zeros.
func (d *Disk) readParts(p []byte, offset int64) (int, error) {
	return d.useParts(func(f vfs.File) (int, error) {
		n, err := f.ReadAt(p, offset)
		if n < len(p) && err != io.EOF {
			return n, cannotRead(d.partsPath, err)
		}
		clear(p[n:])
		return len(p), nil
	})
}

func (d *Disk) writeParts(p []byte, offset int64) (int, error) {
	return d.useParts(func(f vfs.File) (int, error) { return writeInParts(f, p, offset) })
}

// syncParts waits until the dirty file, and its name, is on the disk.
func (d *Disk) syncParts() error {
	if !d.partsDirty.Swap(false) {
		return nil
	}
	dir, err := d.tree.files.state.OpenFile(filepath.Dir(d.partsPath), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	_, err = d.useParts(func(f vfs.File) (int, error) { return 0, errors.Join(f.Sync(), syncFile(dir)) })
	return err
}
