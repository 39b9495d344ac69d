package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// faultDirectory is a directory of a file system as a [vfs.Root]. With the root directory it is, except for
// OpenRoot and others, also a [vfs.FS].
type faultDirectory struct {
	f   *faultFS
	dir *faultNode
}

var (
	_ vfs.FS   = (*faultFS)(nil)
	_ vfs.Root = faultDirectory{}
	_ vfs.File = (*faultFile)(nil)
)

// do runs a call that changes or reads the tree.
func (a faultDirectory) do(call, name string, run func() error) error {
	after, _, err := a.f.begin(call, name)
	if err != nil {
		return err
	}
	a.f.mu.Lock()
	err = run()
	a.f.mu.Unlock()
	if err != nil {
		err = &fs.PathError{Op: call, Path: name, Err: err}
	}
	return after(err)
}

// OpenFile implements [vfs.Root].
func (a faultDirectory) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	var n *faultNode
	err := a.do("open", name, func() (err error) {
		n, err = a.f.walk(a.dir, name)
		switch {
		case errors.Is(err, syscall.ENOENT) && flag&os.O_CREATE != 0:
			dir, last, err := a.f.parent(a.dir, name)
			if err != nil {
				return err
			}
			if dir.mode&0o200 == 0 {
				return syscall.EACCES
			}
			n = a.f.newNode(perm)
			n.disk = faultState{mode: perm, changed: n.changed, mtime: n.mtime}
			a.f.link(dir, last, n)
			return nil
		case err != nil:
			return err
		case flag&os.O_EXCL != 0:
			return syscall.EEXIST
		case n.mode.Type() == fs.ModeSymlink:
			return syscall.ELOOP
		case flag&(os.O_RDWR|os.O_WRONLY) != 0 && n.mode.IsDir():
			return syscall.EISDIR
		case flag&(os.O_RDWR|os.O_WRONLY) != 0 && n.mode&0o200 == 0, n.mode&0o400 == 0:
			return syscall.EACCES
		}
		if flag&os.O_TRUNC != 0 {
			a.f.truncate(n, 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &faultFile{f: a.f, n: n, name: name, writable: flag&(os.O_RDWR|os.O_WRONLY) != 0}, nil
}

// OpenRoot implements [vfs.Root].
func (a faultDirectory) OpenRoot(name string) (vfs.Root, error) {
	r := faultDirectory{a.f, nil}
	err := a.do("open", name, func() (err error) {
		r.dir, err = a.f.walk(a.dir, name)
		switch {
		case err == nil && !r.dir.mode.IsDir():
			err = syscall.ENOTDIR
		case err == nil && r.dir.mode&0o400 == 0:
			err = syscall.EACCES
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Lstat implements [vfs.Root].
func (a faultDirectory) Lstat(name string) (i fs.FileInfo, err error) {
	err = a.do("lstat", name, func() error {
		n, err := a.f.walk(a.dir, name)
		if err == nil {
			i = newFaultInfo(name, n)
		}
		return err
	})
	return i, err
}

// LstatAll implements [vfs.Root].
func (a faultDirectory) LstatAll(names []string) []fs.FileInfo {
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		if info, err := a.Lstat(name); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// Born implements [vfs.Root].
func (a faultDirectory) Born(name string) int64 {
	a.f.mu.Lock()
	defer a.f.mu.Unlock()
	n, err := a.f.walk(a.dir, name)
	if err != nil {
		return 0
	}
	return n.born
}

// Readlink implements [vfs.Root].
func (a faultDirectory) Readlink(name string) (target string, err error) {
	err = a.do("readlink", name, func() error {
		n, err := a.f.walk(a.dir, name)
		if err == nil && n.mode.Type() != fs.ModeSymlink {
			err = syscall.EINVAL
		}
		if err == nil {
			target = n.target
		}
		return err
	})
	return target, err
}

// add adds a node with a name.
func (a faultDirectory) add(call, name string, mode fs.FileMode, target string) error {
	return a.do(call, name, func() error {
		dir, last, err := a.f.parent(a.dir, name)
		switch {
		case err != nil:
			return err
		case dir.names[a.f.fold(last)] != nil:
			return syscall.EEXIST
		case dir.mode&0o200 == 0:
			return syscall.EACCES
		}
		n := a.f.newNode(mode)
		n.target = target
		n.synced() // an empty directory is there once its name is
		a.f.link(dir, last, n)
		return nil
	})
}

// Mkdir implements [vfs.Root].
func (a faultDirectory) Mkdir(name string, perm fs.FileMode) error {
	return a.add("mkdir", name, fs.ModeDir|perm, "")
}

// Symlink implements [vfs.Root].
func (a faultDirectory) Symlink(target, name string) error {
	return a.add("symlink", name, fs.ModeSymlink|0o777, target)
}

// MkdirAll implements [vfs.Root].
func (a faultDirectory) MkdirAll(name string, perm fs.FileMode) error {
	if i, err := a.Lstat(name); err == nil && i.IsDir() {
		return nil
	}
	if up := path.Dir(path.Clean(name)); up != "." && up != "/" {
		if err := a.MkdirAll(up, perm); err != nil {
			return err
		}
	}
	return a.Mkdir(name, perm)
}

// change changes the metadata of what has a name.
func (a faultDirectory) change(call, name string, change func(n *faultNode)) error {
	return a.do(call, name, func() error {
		n, err := a.f.walk(a.dir, name)
		if err == nil {
			a.f.clock += 1000
			n.changed = a.f.clock
			change(n)
		}
		return err
	})
}

// Chmod implements [vfs.Root].
func (a faultDirectory) Chmod(name string, mode fs.FileMode) error {
	return a.change("chmod", name, func(n *faultNode) { n.mode = n.mode.Type() | mode&^fs.ModeType })
}

// Chtimes implements [vfs.Root].
func (a faultDirectory) Chtimes(name string, _, mtime time.Time) error {
	return a.change("chtimes", name, func(n *faultNode) { n.mtime = mtime.UnixNano() })
}

// Rename implements [vfs.Root].
func (a faultDirectory) Rename(from, to string) error {
	return a.do("rename", from, func() error {
		n, err := a.f.walk(a.dir, from)
		if err != nil {
			return err
		}
		fromDir, fromLast, _ := a.f.parent(a.dir, from)
		toDir, toLast, err := a.f.parent(a.dir, to)
		if err != nil {
			return err
		}
		if toDir.names[a.f.fold(toLast)] != nil {
			a.f.unlink(toDir, toLast)
		}
		n.links++
		a.f.unlink(fromDir, fromLast)
		a.f.link(toDir, toLast, n)
		return nil
	})
}

// Link gives a file another name.
func (a faultDirectory) Link(from, to string) error {
	return a.do("link", from, func() error {
		n, err := a.f.walk(a.dir, from)
		if err != nil {
			return err
		}
		dir, last, err := a.f.parent(a.dir, to)
		if err != nil {
			return err
		}
		n.links++
		a.f.clock += 1000
		n.changed = a.f.clock
		a.f.link(dir, last, n)
		return nil
	})
}

// Free implements [vfs.Root].
func (faultDirectory) Free() (int64, bool) { return 0, false }

func (faultDirectory) FineTime(int64) bool { return false }

// Remove implements [vfs.Root].
func (a faultDirectory) Remove(name string) error {
	return a.do("remove", name, func() error {
		n, err := a.f.walk(a.dir, name)
		if err != nil {
			return err
		}
		dir, last, _ := a.f.parent(a.dir, name)
		switch {
		case len(n.names) > 0:
			return syscall.ENOTEMPTY
		case dir.mode&0o200 == 0:
			return syscall.EACCES
		}
		a.f.unlink(dir, last)
		return nil
	})
}

// Close implements [vfs.Root].
func (a faultDirectory) Close() error { return a.do("close", ".", func() error { return nil }) }

// OpenRoot implements [vfs.FS].
func (f *faultFS) OpenRoot(name string) (vfs.Root, error) {
	return faultDirectory{f, f.root}.OpenRoot(name)
}

// Resolve implements [vfs.FS].
func (f *faultFS) Resolve(name string) (string, error) {
	_, err := f.Lstat(name)
	return name, err
}

// OpenFile implements [vfs.FS].
func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return faultDirectory{f, f.root}.OpenFile(name, flag, perm)
}

// Lstat implements [vfs.FS].
func (f *faultFS) Lstat(name string) (fs.FileInfo, error) {
	return faultDirectory{f, f.root}.Lstat(name)
}

// ModeOf returns the mode of what is at a path, whatever the modes above it.
func (f *faultFS) ModeOf(name string) (fs.FileMode, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.root
	for part := range strings.SplitSeq(strings.Trim(path.Clean(name), "/"), "/") {
		if n = n.names[f.fold(part)]; n == nil {
			return 0, syscall.ENOENT
		}
	}
	return n.mode, nil
}

// Stat implements [vfs.FS].
func (f *faultFS) Stat(name string) (fs.FileInfo, error) {
	return faultDirectory{f, f.root}.Lstat(name)
}

// Mkdir implements [vfs.FS].
func (f *faultFS) Mkdir(name string, perm fs.FileMode) error {
	return faultDirectory{f, f.root}.Mkdir(name, perm)
}

// MkdirAll implements [vfs.FS].
func (f *faultFS) MkdirAll(name string, perm fs.FileMode) error {
	return faultDirectory{f, f.root}.MkdirAll(name, perm)
}

// Remove implements [vfs.FS].
func (f *faultFS) Remove(name string) error { return faultDirectory{f, f.root}.Remove(name) }

// Link gives a file another name.
func (f *faultFS) Link(from, to string) error { return faultDirectory{f, f.root}.Link(from, to) }
