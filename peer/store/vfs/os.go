package vfs

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// OS is the system's file system.
type OS struct{}

// OpenRoot implements [FS].
func (OS) OpenRoot(path string) (Root, error) {
	r, err := openRoot(path)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func openRoot(path string) (osRoot, error) {
	return withDir(os.OpenRoot(path))
}

// withDir returns r with its directory.
func withDir(r *os.Root, err error) (osRoot, error) {
	if err != nil {
		return osRoot{}, err
	}
	dir, err := r.Open(".")
	if err != nil {
		return osRoot{}, errors.Join(err, r.Close())
	}
	return osRoot{r, dir}, nil
}

// Resolve implements [FS].
func (OS) Resolve(path string) (string, error) {
	to, err := filepath.EvalSymlinks(path)
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = &fs.PathError{Op: "resolve", Path: path, Err: err}
	}
	return to, err
}

// OpenFile implements [FS].
func (OS) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	return newFile(os.OpenFile(path, flag, perm))
}

// Lstat implements [FS].
func (OS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Stat implements [FS].
func (OS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Mkdir implements [FS].
func (OS) Mkdir(path string, perm fs.FileMode) error { return os.Mkdir(path, perm) }

// MkdirAll implements [FS].
func (OS) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }

// Remove implements [FS].
func (OS) Remove(path string) error { return os.Remove(path) }

// osRoot is an [os.Root] that opens files as [File].
type osRoot struct {
	*os.Root
	dir *os.File // the same directory, for calls of the system that Root does not make
}

// Close implements [Root].
func (r osRoot) Close() error { return errors.Join(r.dir.Close(), r.Root.Close()) }

// OpenRoot implements [Root].
func (r osRoot) OpenRoot(name string) (Root, error) {
	in, err := withDir(r.Root.OpenRoot(name))
	if err != nil {
		return nil, err
	}
	if err := r.checkNoLink(name, func() (fs.FileInfo, error) { return in.Lstat(".") }); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// Lstat implements [Root].
func (r osRoot) Lstat(name string) (fs.FileInfo, error) {
	if err := r.checkDirs(name); err != nil {
		return nil, err
	}
	return r.Root.Lstat(name)
}

// checkDirs fails if a directory above a name is a symbolic link, which Root would follow.
func (r osRoot) checkDirs(name string) error {
	dir := filepath.Dir(name)
	if dir == "." {
		return nil
	}
	if f, done, err := r.openBeneath(dir, passFlags, 0); done {
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return err
	}
	for i, c := range dir + string(filepath.Separator) {
		if c != filepath.Separator {
			continue
		}
		if info, err := r.Root.Lstat(dir[:i]); err != nil || info.Mode().Type() == fs.ModeSymlink {
			return cmp.Or(err, error(&fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}))
		}
	}
	return nil
}

// LstatAll implements [Root].
func (r osRoot) LstatAll(names []string) []fs.FileInfo { return lstatByDir(names, r.lstatIn) }

// lstatByDir is LstatAll by calls of in for neighbors in one directory.
func lstatByDir(names []string, in func(dir string, names []string, infos []fs.FileInfo)) []fs.FileInfo {
	infos := make([]fs.FileInfo, len(names))
	for from := 0; from < len(names); {
		dir, to := filepath.Dir(names[from]), from+1
		for to < len(names) && filepath.Dir(names[to]) == dir {
			to++
		}
		in(dir, names[from:to], infos[from:to])
		from = to
	}
	return infos
}

// lstatIn is LstatAll for names in one directory.
func (r osRoot) lstatIn(dir string, names []string, infos []fs.FileInfo) {
	in := r.Root
	if dir != "." {
		if r.checkDirs(names[0]) != nil {
			return
		}
		var err error
		if in, err = r.Root.OpenRoot(dir); err != nil {
			return
		}
		defer in.Close()
	}
	for i, name := range names {
		if info, err := in.Lstat(filepath.Base(name)); err == nil {
			infos[i] = info
		}
	}
}

// OpenFile implements [Root].
func (r osRoot) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if f, done, err := r.openBeneath(name, flag, perm); done {
		return newFile(f, err)
	}
	if err := r.checkDirs(name); err != nil {
		return nil, err
	}
	f, err := r.Root.OpenFile(name, flag, perm)
	if err == nil && flag&syscall.O_NOFOLLOW != 0 {
		if err = r.checkNoLink(name, f.Stat); err != nil {
			_ = f.Close() // nothing was written
		}
	}
	return newFile(f, err)
}

// checkNoLink fails if the name by which a file was opened is a symbolic link, which Root has followed.
func (r osRoot) checkNoLink(name string, stat func() (fs.FileInfo, error)) error {
	opened, err := stat()
	if err != nil {
		return err
	}
	named, err := r.Lstat(name)
	if err == nil && !os.SameFile(opened, named) {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	}
	return err
}

// osFile is an [os.File] with further calls of the system.
type osFile struct{ *os.File }

// system returns the system's file.
func (f osFile) system() *os.File { return f.File }

func newFile(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// CopyFrom implements [File].
func (f osFile) CopyFrom(src File) error {
	from, ok := src.(interface{ system() *os.File })
	if !ok {
		return fs.ErrInvalid
	}
	// With copy_file_range(2) on Linux, which shares blocks.
	_, err := io.Copy(f.File, from.system())
	return err
}
