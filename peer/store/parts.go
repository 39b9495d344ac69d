package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// parts is a file with the bytes of left-out files, where a piece has bytes of another file too: without them the piece can
// be neither verified nor served. It is sparse, and has them at their offsets in the stream.
type parts struct {
	path  string
	files *Files
	owner opener
	dirty atomic.Bool // the next flush has to cover it
}

// partsNumber is its number among the open files.
const partsNumber = -1

func (p *parts) open() (vfs.File, error) {
	f, err := p.files.state.OpenFile(p.path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		f.DropCache() // a flush may have failed before: what is hashed must be on the disk
	}
	return f, err
}

// use calls do with the open file.
func (p *parts) use(do func(f vfs.File) (int, error)) (int, error) {
	h, err := p.files.acquire(p.owner, partsNumber)
	if err != nil {
		return 0, cannotRead(p.path, err)
	}
	defer p.files.release(h)
	return do(h.f)
}

// readAt fills b. What was never written is zeros.
func (p *parts) readAt(b []byte, offset int64) (int, error) {
	return p.use(func(f vfs.File) (int, error) {
		n, err := f.ReadAt(b, offset)
		if n < len(b) && err != io.EOF {
			return n, cannotRead(p.path, err)
		}
		clear(b[n:])
		return len(b), nil
	})
}

func (p *parts) writeAt(b []byte, offset int64) (int, error) {
	return p.use(func(f vfs.File) (int, error) { return writeInParts(f, b, offset) })
}

// sync waits until the dirty file, and its name, is on the disk.
func (p *parts) sync() error {
	if !p.dirty.Swap(false) {
		return nil
	}
	_, err := p.use(func(f vfs.File) (int, error) { return 0, f.Sync() })
	return errors.Join(err, vfs.SyncDir(p.files.state, filepath.Dir(p.path)))
}
