package peer_test

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// mortal is a file system that does not change once it is killed.
type mortal struct {
	vfs.FS
	dead atomic.Bool
	mu   sync.Mutex
	left int // calls until then is called
	then func()
}

func (d *mortal) kill() { d.dead.Store(true) }

// after has f called before one of the next changes.
func (d *mortal) after(calls int, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.then = calls, f
}

// never cancels after. It reports false if f was called.
func (d *mortal) never() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.then != nil
	d.then = nil
	return was
}

// change is called before each change, and fails if the file system was killed.
func (d *mortal) change() error {
	d.mu.Lock()
	var then func()
	if d.left--; d.left < 0 {
		then, d.then = d.then, nil
	}
	d.mu.Unlock()
	if then != nil {
		then()
	}
	if d.dead.Load() {
		return syscall.EIO
	}
	return nil
}

// OpenRoot implements [vfs.FS].
func (d *mortal) OpenRoot(path string) (vfs.Root, error) {
	r, err := d.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return mortalRoot{r, d}, nil
}

// open opens a file.
func (d *mortal) open(flag int, open func() (vfs.File, error)) (vfs.File, error) {
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		if err := d.change(); err != nil {
			return nil, err
		}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return mortalFile{f, d}, nil
}

// OpenFile implements [vfs.FS].
func (d *mortal) OpenFile(path string, flag int, perm fs.FileMode) (vfs.File, error) {
	return d.open(flag, func() (vfs.File, error) { return d.FS.OpenFile(path, flag, perm) })
}

// do makes a change.
func (d *mortal) do(f func() error) error {
	if err := d.change(); err != nil {
		return err
	}
	return f()
}

// Mkdir implements [vfs.FS].
func (d *mortal) Mkdir(path string, perm fs.FileMode) error {
	return d.do(func() error { return d.FS.Mkdir(path, perm) })
}

// MkdirAll implements [vfs.FS].
func (d *mortal) MkdirAll(path string, perm fs.FileMode) error {
	return d.do(func() error { return d.FS.MkdirAll(path, perm) })
}

// Remove implements [vfs.FS].
func (d *mortal) Remove(path string) error { return d.do(func() error { return d.FS.Remove(path) }) }

type mortalRoot struct {
	vfs.Root
	d *mortal
}

// OpenRoot implements [vfs.Root].
func (r mortalRoot) OpenRoot(name string) (vfs.Root, error) {
	in, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return mortalRoot{in, r.d}, nil
}

// OpenFile implements [vfs.Root].
func (r mortalRoot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return r.d.open(flag, func() (vfs.File, error) { return r.Root.OpenFile(name, flag, perm) })
}

// Mkdir implements [vfs.Root].
func (r mortalRoot) Mkdir(name string, perm fs.FileMode) error {
	return r.d.do(func() error { return r.Root.Mkdir(name, perm) })
}

// Chmod implements [vfs.Root].
func (r mortalRoot) Chmod(name string, mode fs.FileMode) error {
	return r.d.do(func() error { return r.Root.Chmod(name, mode) })
}

// Chtimes implements [vfs.Root].
func (r mortalRoot) Chtimes(name string, atime, mtime time.Time) error {
	return r.d.do(func() error { return r.Root.Chtimes(name, atime, mtime) })
}

// Symlink implements [vfs.Root].
func (r mortalRoot) Symlink(target, name string) error {
	return r.d.do(func() error { return r.Root.Symlink(target, name) })
}

// Rename implements [vfs.Root].
func (r mortalRoot) Rename(from, to string) error {
	return r.d.do(func() error { return r.Root.Rename(from, to) })
}

// Remove implements [vfs.Root].
func (r mortalRoot) Remove(name string) error {
	return r.d.do(func() error { return r.Root.Remove(name) })
}

type mortalFile struct {
	vfs.File
	d *mortal
}

// WriteAt implements [vfs.File].
func (f mortalFile) WriteAt(p []byte, offset int64) (n int, err error) {
	err = f.d.do(func() (err error) {
		n, err = f.File.WriteAt(p, offset)
		return err
	})
	return n, err
}

// Chmod implements [vfs.File].
func (f mortalFile) Chmod(mode fs.FileMode) error {
	return f.d.do(func() error { return f.File.Chmod(mode) })
}

// SetModTime implements [vfs.File].
func (f mortalFile) SetModTime(t time.Time) (done bool, err error) {
	err = f.d.do(func() (err error) {
		done, err = f.File.SetModTime(t)
		return err
	})
	return done, err
}

// Truncate implements [vfs.File].
func (f mortalFile) Truncate(size int64) error {
	return f.d.do(func() error { return f.File.Truncate(size) })
}

// CopyFrom implements [vfs.File].
func (f mortalFile) CopyFrom(src vfs.File) error {
	return f.d.do(func() error { return f.File.CopyFrom(src.(mortalFile).File) })
}
