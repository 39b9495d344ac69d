package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// As returns the system's file system as far as a user may use it, though the process runs
// as another. Each file is checked once it is open, and each directory on the way to it is
// held open, so what somebody puts in the place of a path between a check and its use is
// checked too. Paths must lead through no symbolic link; see Resolve.
//
// What the process's own user owns at or below made is what the process made there for
// this user, and may be used. Made is empty where nothing was. The files in the folder
// state are the process's own, and are not checked.
func As(u *User, made, state string) FS { return &asUser{u, made, state, uint32(os.Geteuid())} }

// asUser is the file system of a user. Calls that it allows are made with the rights of the
// process, which may be fewer.
type asUser struct {
	user  *User
	made  string
	state string
	self  uint32
}

// check fails unless the user may do all of want with an open file. With made, what the
// process's user owns is allowed.
func (a *asUser) check(fd int, want uint32, made bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if made && st.Uid == a.self {
		return nil
	}
	_, err := unix.Getxattr(procPath(fd), "system.posix_acl_access", nil)
	if !a.user.may(want, st.Uid, st.Gid, st.Mode, err == nil) {
		return unix.EACCES
	}
	return nil
}

// within reports whether a path is at or below what was made for the user.
func (a *asUser) within(path string) bool {
	return a.made != "" && (path == a.made || strings.HasPrefix(path, a.made+"/"))
}

// own reports whether a path is of a file of the process's own.
func (a *asUser) own(path string) bool { return path == a.state || filepath.Dir(path) == a.state }

// procPath names what a descriptor is open for.
func procPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// pin opens the directory at path, which the user may reach.
func (a *asUser) pin(path string) (fd int, err error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err = unix.Open("/", flags, 0)
	at := "/"
	for _, name := range strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == '/' }) {
		if err == nil {
			err = a.check(fd, maySearch, a.within(at))
		}
		if err != nil {
			break
		}
		var next int
		next, err = unix.Openat(fd, name, flags, 0)
		_ = unix.Close(fd)
		fd, at = next, filepath.Join(at, name)
	}
	if err == nil {
		err = a.check(fd, maySearch, a.within(at))
	}
	if err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// at calls f with a path to what is at path, by a directory that is held open, in which
// the user may do all of want.
func (a *asUser) at(path string, want uint32, f func(path string) error) error {
	if a.own(path) {
		return f(path)
	}
	dir := filepath.Dir(path)
	fd, err := a.pin(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if want != 0 {
		if err := a.check(fd, want, a.within(dir)); err != nil {
			return &fs.PathError{Op: "open", Path: dir, Err: err}
		}
	}
	err = f(filepath.Join(procPath(fd), filepath.Base(path)))
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}

// OpenRoot implements [FS].
func (a *asUser) OpenRoot(path string) (Root, error) {
	fd, err := a.pin(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	r, err := openRoot(procPath(fd))
	if err != nil {
		return nil, err
	}
	return &asRoot{r, a, path}, nil
}

// Resolve implements [FS]. What it returns is checked when it is used.
func (a *asUser) Resolve(path string) (string, error) { return OS{}.Resolve(path) }

// OpenFile implements [FS].
func (a *asUser) OpenFile(path string, flag int, perm fs.FileMode) (f File, err error) {
	want := uint32(0)
	if flag&os.O_CREATE != 0 {
		want = mayWrite
	}
	err = a.at(path, want, func(at string) (err error) {
		if a.own(path) {
			f, err = OS{}.OpenFile(at, flag, perm)
			return err
		}
		// Nonblocking, should it be a named pipe.
		f, err = a.checked(flag, a.within(path))(OS{}.OpenFile(at, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm))
		return err
	})
	return f, err
}

// checked returns a function that takes the result of an OpenFile, and closes a file that the
// user may not open. One that is made by the call is the user's.
func (a *asUser) checked(flag int, made bool) func(File, error) (File, error) {
	return func(f File, err error) (File, error) {
		if err != nil || flag&os.O_EXCL != 0 {
			return f, err
		}
		want := uint32(mayRead)
		switch flag & (os.O_WRONLY | os.O_RDWR) {
		case os.O_WRONLY:
			want = mayWrite
		case os.O_RDWR:
			want = mayRead | mayWrite
		}
		file := f.(osFile)
		if err := a.check(int(file.Fd()), want, made); err != nil {
			return nil, errors.Join(&fs.PathError{Op: "open", Path: file.Name(), Err: err}, f.Close())
		}
		return f, nil
	}
}

// Lstat implements [FS].
func (a *asUser) Lstat(path string) (info fs.FileInfo, err error) {
	err = a.at(path, 0, func(at string) (err error) {
		info, err = os.Lstat(at)
		return err
	})
	return info, err
}

// Stat implements [FS]. It follows no symbolic link.
func (a *asUser) Stat(path string) (fs.FileInfo, error) { return a.Lstat(path) }

// Mkdir implements [FS].
func (a *asUser) Mkdir(path string, perm fs.FileMode) error {
	return a.at(path, mayWrite, func(at string) error { return os.Mkdir(at, perm) })
}

// MkdirAll implements [FS]. Stores make only their own folder.
func (a *asUser) MkdirAll(path string, perm fs.FileMode) error {
	if !a.own(path) {
		return &fs.PathError{Op: "mkdir", Path: path, Err: unix.EACCES}
	}
	return os.MkdirAll(path, perm)
}

// Remove implements [FS].
func (a *asUser) Remove(path string) error {
	return a.at(path, mayWrite, os.Remove)
}

// asRoot is an open directory as far as a user may use it.
type asRoot struct {
	osRoot
	as   *asUser
	path string
}

func (r *asRoot) within(name string) bool { return r.as.within(filepath.Join(r.path, name)) }

// mayChange fails unless the user may make and remove names in the directory of a name.
func (r *asRoot) mayChange(name string) error {
	dir := filepath.Dir(name)
	f, err := r.Root.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.as.check(int(f.Fd()), mayWrite|maySearch, r.within(dir)); err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Join(r.path, dir), Err: err}
	}
	return nil
}

// OpenFile implements [Root].
func (r *asRoot) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_CREATE != 0 {
		if err := r.mayChange(name); err != nil {
			return nil, err
		}
	}
	return r.as.checked(flag, r.within(name))(r.osRoot.OpenFile(name, flag|unix.O_NONBLOCK, perm))
}

// Mkdir implements [Root].
func (r *asRoot) Mkdir(name string, perm fs.FileMode) error {
	if err := r.mayChange(name); err != nil {
		return err
	}
	return r.Root.Mkdir(name, perm)
}

// MkdirAll implements [Root].
func (r *asRoot) MkdirAll(name string, perm fs.FileMode) error {
	if name == "." {
		return nil
	}
	if err := r.MkdirAll(filepath.Dir(name), perm); err != nil {
		return err
	}
	err := r.Mkdir(name, perm)
	if info, statErr := r.Lstat(name); errors.Is(err, fs.ErrExist) && statErr == nil && info.IsDir() {
		return nil
	}
	return err
}

// mayAdjust fails unless a name is of what the process's or this user owns: only an owner
// sets modes and times.
func (r *asRoot) mayAdjust(name string) error {
	info, err := r.Lstat(name)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid != r.as.user.UID && (st.Uid != r.as.self || !r.within(name)) {
		return &fs.PathError{Op: "chmod", Path: filepath.Join(r.path, name), Err: unix.EACCES}
	}
	return nil
}

// Chmod implements [Root].
func (r *asRoot) Chmod(name string, mode fs.FileMode) error {
	if err := r.mayAdjust(name); err != nil {
		return err
	}
	return r.Root.Chmod(name, mode)
}

// Chtimes implements [Root].
func (r *asRoot) Chtimes(name string, atime, mtime time.Time) error {
	if err := r.mayAdjust(name); err != nil {
		return err
	}
	return r.Root.Chtimes(name, atime, mtime)
}

// Symlink implements [Root].
func (r *asRoot) Symlink(target, name string) error {
	if err := r.mayChange(name); err != nil {
		return err
	}
	return r.Root.Symlink(target, name)
}

// Rename implements [Root].
func (r *asRoot) Rename(from, to string) error {
	if err := errors.Join(r.mayChange(from), r.mayChange(to)); err != nil {
		return err
	}
	return r.Root.Rename(from, to)
}

// Remove implements [Root].
func (r *asRoot) Remove(name string) error {
	if err := r.mayChange(name); err != nil {
		return err
	}
	return r.Root.Remove(name)
}
