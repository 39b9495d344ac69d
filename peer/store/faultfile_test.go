package store_test

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// sector is the number of bytes of a write are lost or kept together.
const sector = 512

// faultFile is an open file or directory.
type faultFile struct {
	f        *faultFS
	n        *faultNode
	name     string
	writable bool
}

func (o *faultFile) do(call string, run func() error) error {
	return faultDirectory{f: o.f}.do(call, o.name, run)
}

// ReadAt implements [io.ReaderAt].
func (o *faultFile) ReadAt(p []byte, offset int64) (n int, err error) {
	eof := false
	err = o.do("read", func() error {
		if offset < int64(len(o.n.data)) {
			n = copy(p, o.n.data[offset:])
		}
		eof = n < len(p)
		return nil
	})
	if err == nil && eof {
		err = io.EOF
	}
	if err != nil && !eof {
		n = 0
	}
	return n, err
}

// WriteAt implements [io.WriterAt]. If it fails, half of it is done.
func (o *faultFile) WriteAt(p []byte, offset int64) (n int, err error) {
	if !o.writable {
		return 0, syscall.EBADF
	}
	after, half, err := o.f.begin("write", o.name)
	switch {
	case half:
		p = p[:len(p)/2]
	case err != nil:
		return 0, err
	}
	o.f.mu.Lock()
	o.write(p, offset)
	o.f.mu.Unlock()
	if err != nil {
		return len(p), err
	}
	return len(p), after(nil)
}

func (o *faultFile) write(p []byte, offset int64) {
	if end := offset + int64(len(p)); end > int64(len(o.n.data)) {
		o.n.data = resize(o.n.data, end)
	}
	copy(o.n.data[offset:], p)
	for len(p) > 0 {
		n := min(len(p), sector-int(offset%sector))
		o.n.pending = append(o.n.pending, faultWrite{at: offset, data: append([]byte{}, p[:n]...)})
		p, offset = p[n:], offset+int64(n)
	}
	o.f.touch(o.n)
}

func (f *faultFS) truncate(n *faultNode, size int64) {
	n.data = resize(n.data, size)
	n.pending = append(n.pending, faultWrite{size: size})
	f.touch(n)
}

// Truncate implements [vfs.File].
func (o *faultFile) Truncate(size int64) error {
	return o.do("truncate", func() error { o.f.truncate(o.n, size); return nil })
}

// Stat implements [vfs.File].
func (o *faultFile) Stat() (i fs.FileInfo, err error) {
	err = o.do("stat", func() error { i = newFaultInfo(o.name, o.n); return nil })
	return i, err
}

// Chmod implements [vfs.File].
func (o *faultFile) Chmod(mode fs.FileMode) error {
	return o.do("fchmod", func() error {
		o.n.mode = o.n.mode.Type() | mode&^fs.ModeType
		o.f.clock += 1000
		o.n.changed = o.f.clock
		return nil
	})
}

// SetModTime implements [vfs.File].
func (o *faultFile) SetModTime(t time.Time) (bool, error) {
	return true, o.do("futimens", func() error {
		o.n.mtime = t.UnixNano()
		o.f.clock += 1000
		o.n.changed = o.f.clock
		return nil
	})
}

// Readdirnames implements [vfs.File].
func (o *faultFile) Readdirnames(int) (names []string, err error) {
	err = o.do("readdir", func() error {
		for _, name := range o.n.shown {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// Sync implements [vfs.File]. If it fails, the writes are lost: they are in memory, but no
// later flush puts them on the disk.
func (o *faultFile) Sync() error {
	return o.sync("sync", o.n.synced, o.n.lost)
}

// SyncFS implements [vfs.File].
func (o *faultFile) SyncFS() (bool, error) {
	all := func(do func(n *faultNode)) func() { return func() { eachNode(o.f.root, do) } }
	return true, o.sync("syncfs", all((*faultNode).synced), all((*faultNode).lost))
}

func (o *faultFile) sync(call string, flush, lose func()) error {
	after, part, err := o.f.begin(call, o.name)
	o.f.mu.Lock()
	switch {
	case part:
		lose()
	case err == nil:
		flush()
	}
	o.f.mu.Unlock()
	if err == nil {
		err = after(nil)
	}
	if err != nil {
		o.countLost()
	}
	return err
}

// Close implements [vfs.File]. If it fails, it loses what was not flushed, as on a network's
// file system.
func (o *faultFile) Close() error {
	after, part, err := o.f.begin("close", o.name)
	o.f.mu.Lock()
	unflushed := o.writable && slices.ContainsFunc(o.n.pending, func(p faultWrite) bool { return p.data != nil })
	if part && o.writable {
		o.n.lost()
	}
	o.f.mu.Unlock()
	if err == nil {
		err = after(nil)
	}
	if err != nil && unflushed {
		o.countLost()
	}
	return err
}

func (o *faultFile) countLost() {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	if !strings.HasPrefix(path.Base(o.name), ".") { // of a temporary file
		o.f.lost++
	}
}

// CopyFrom implements [vfs.File].
func (o *faultFile) CopyFrom(src vfs.File) error {
	from, ok := src.(*faultFile)
	if !ok {
		return fs.ErrInvalid
	}
	return o.do("copy", func() error { o.write(from.n.data, 0); return nil })
}

// Seek implements [vfs.File]. It returns the size.
func (o *faultFile) Seek(int64, int) (int64, error) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	return int64(len(o.n.data)), nil
}

// IsHole implements [vfs.File].
func (o *faultFile) IsHole(int64, int64) bool { return false }

// DropCache implements [vfs.File]: the next read is from the disk, which may not have what a
// failed flush has lost.
func (o *faultFile) DropCache() {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	if o.n.stale {
		o.n.data = slices.Clone(o.n.disk.data)
		o.n.stale = false
	}
}

// eachNode calls do with all files at or below n.
func eachNode(n *faultNode, do func(n *faultNode)) {
	do(n)
	for _, child := range n.names {
		eachNode(child, do)
	}
}
