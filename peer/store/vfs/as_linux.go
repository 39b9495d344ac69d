package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// As returns the system's file system as far as a user may use it, though the process runs
// as another. Each file is checked once it is open, and each directory on the way to it is
// held open, so what another program puts in the place of a path between a check and its use is
// checked too. Paths must lead through no symbolic link; see Resolve.
//
// What the process's own user owns at or below made is what the process made there for
// this user, and may be used. Made is empty where nothing was.
func As(u *User, made string) FS {
	return asFS{&asRoot{as: &asUser{u, made, uint32(os.Geteuid())}, path: "/"}}
}

// asUser is a user. Calls that it allows are made with the rights of the process, which may be fewer.
type asUser struct {
	user *User
	made string
	self uint32
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

// procPath names what a descriptor is open for.
func procPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

const dirFlags = passFlags | unix.O_NOFOLLOW | unix.O_CLOEXEC

// walk opens the directory with a path below an open one, which is at a path itself and which walk
// closes. The user may search all of them.
func (a *asUser) walk(fd int, at, below string) (int, error) {
	for _, name := range strings.Split(filepath.Clean(below), "/") {
		if name == "" || name == "." {
			continue
		}
		if err := a.check(fd, maySearch, a.within(at)); err != nil {
			return -1, errors.Join(err, unix.Close(fd))
		}
		next, err := unix.Openat(fd, name, dirFlags, 0)
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd, at = next, filepath.Join(at, name)
	}
	if err := a.check(fd, maySearch, a.within(at)); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// asFS is the root directory of the system as far as a user may use it. Paths are names in it.
type asFS struct{ *asRoot }

// Resolve implements [FS]. What it returns is checked when it is used.
func (a asFS) Resolve(path string) (string, error) {
	to, err := OS{}.Resolve(path)
	if err == nil {
		return to, nil
	}
	_, denied := PlaceFor(a.as.user, path)
	return "", cmp.Or(denied, err)
}

// Stat implements [FS]. It follows no symbolic link.
func (a asFS) Stat(path string) (fs.FileInfo, error) { return a.Lstat(path) }

// MkdirAll implements [FS]. It is not needed below the paths of a user.
func (asFS) MkdirAll(path string, _ fs.FileMode) error {
	return &fs.PathError{Op: "mkdir", Path: path, Err: unix.EACCES}
}

// checkOpen fails unless the user may open a file with these flags. A file that is created by that is the user's.
func (a *asUser) checkOpen(f osFile, flag int, made bool) error {
	want := uint32(mayRead)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		want = mayWrite
	case os.O_RDWR:
		want = mayRead | mayWrite
	}
	if flag&os.O_EXCL != 0 {
		return nil
	}
	return a.check(int(f.Fd()), want, made)
}

// asRoot is an open directory as far as a user may use it. Each directory on the way to a name is
// checked as by walk.
type asRoot struct {
	root osRoot // zero for the root directory of the system
	as   *asUser
	path string
}

// Free implements [Root].
func (r *asRoot) Free() (int64, bool) { return r.root.Free() }

// FineTime implements [Root].
func (r *asRoot) FineTime(changed int64) bool { return r.root.FineTime(changed) }

// Close implements [Root].
func (r *asRoot) Close() error { return r.root.Close() }

// OpenRoot implements [Root].
func (r *asRoot) OpenRoot(name string) (Root, error) {
	fd, err := r.pin(name, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	in, err := openRoot(procPath(fd))
	if err != nil {
		return nil, err
	}
	return &asRoot{root: in, as: r.as, path: filepath.Join(r.path, name)}, nil
}

func (r *asRoot) within(name string) bool { return r.as.within(filepath.Join(r.path, name)) }

// pin opens a directory, in which the user may do all of want.
func (r *asRoot) pin(dir string, want uint32) (fd int, err error) {
	if r.root.Root == nil {
		dir = filepath.Join(".", dir) // without the first slash
	}
	if !filepath.IsLocal(dir) {
		return -1, &fs.PathError{Op: "open", Path: dir, Err: unix.EACCES}
	}
	if fd, err = r.open(); err == nil {
		fd, err = r.as.walk(fd, r.path, dir)
	}
	if err == nil && want != 0 {
		if err = r.as.check(fd, want, r.within(dir)); err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: filepath.Join(r.path, dir), Err: err}
	}
	return fd, nil
}

// open opens the directory again, to pass through.
func (r *asRoot) open() (fd int, err error) {
	if r.root.Root == nil {
		return unix.Open(r.path, dirFlags, 0)
	}
	conn, err := r.root.dir.SyscallConn()
	if err != nil {
		return -1, err
	}
	if conn.Control(func(root uintptr) { fd, err = unix.Openat(int(root), ".", dirFlags, 0) }) != nil {
		return -1, fs.ErrClosed
	}
	return fd, err
}

// at calls f with a path to what has a name, by its directory, which is held open and in which the
// user may do all of want.
func (r *asRoot) at(name string, want uint32, f func(path string) error) error {
	fd, err := r.pin(filepath.Dir(name), want)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = f(in(fd, name))
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: p.Op, Path: filepath.Join(r.path, name), Err: p.Err}
	}
	return err
}

// in returns a path to what has a name, by its open directory. The name may be ".".
func in(dir int, name string) string { return procPath(dir) + "/" + filepath.Base(name) }

// OpenFile implements [Root].
func (r *asRoot) OpenFile(name string, flag int, perm fs.FileMode) (f File, err error) {
	want := uint32(0)
	if flag&os.O_CREATE != 0 {
		want = mayWrite
	}
	err = r.at(name, want, func(at string) error {
		// Nonblocking, should it be a named pipe.
		opened, err := os.OpenFile(at, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
		if err != nil {
			return err
		}
		if err := r.as.checkOpen(osFile{opened}, flag, r.within(name)); err != nil {
			return errors.Join(&fs.PathError{Op: "open", Path: at, Err: err}, opened.Close())
		}
		f = asFile{osFile{opened}, r.as, r.within(name)}
		return nil
	})
	return f, err
}

// asFile is an open file as far as a user may use it.
type asFile struct {
	osFile
	as   *asUser
	made bool // at or below what was made for the user
}

// Chmod implements [File].
func (f asFile) Chmod(mode fs.FileMode) error {
	if err := f.as.checkOwner(int(f.Fd()), f.made); err != nil {
		return &fs.PathError{Op: "chmod", Path: f.Name(), Err: err}
	}
	return f.osFile.Chmod(mode)
}

// SetModTime implements [File].
func (f asFile) SetModTime(t time.Time) (bool, error) {
	if err := f.as.checkOwner(int(f.Fd()), f.made); err != nil {
		return true, &fs.PathError{Op: "chtimes", Path: f.Name(), Err: err}
	}
	return f.osFile.SetModTime(t)
}

// Lstat implements [Root].
func (r *asRoot) Lstat(name string) (info fs.FileInfo, err error) {
	err = r.at(name, 0, func(at string) (err error) {
		info, err = os.Lstat(at)
		return err
	})
	return info, err
}

// LstatAll implements [Root].
func (r *asRoot) LstatAll(names []string) []fs.FileInfo {
	return lstatByDir(names, func(dir string, names []string, infos []fs.FileInfo) {
		fd, err := r.pin(dir, 0)
		if err != nil {
			return
		}
		defer unix.Close(fd)
		for i, name := range names {
			if info, err := os.Lstat(in(fd, name)); err == nil {
				infos[i] = info
			}
		}
	})
}

// Born implements [Root].
func (r *asRoot) Born(name string) int64 {
	fd, err := r.pin(filepath.Dir(name), 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	return born(fd, filepath.Base(name))
}

// Readlink implements [Root].
func (r *asRoot) Readlink(name string) (target string, err error) {
	err = r.at(name, 0, func(at string) (err error) {
		target, err = os.Readlink(at)
		return err
	})
	return target, err
}

// Mkdir implements [Root].
func (r *asRoot) Mkdir(name string, perm fs.FileMode) error {
	return r.at(name, mayWrite, func(at string) error { return os.Mkdir(at, perm) })
}

// checkOwner fails unless the user, or for what was made the process's user, owns an open file that is not a link: only an owner sets
// modes and times.
func (a *asUser) checkOwner(fd int, made bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK || st.Uid != a.user.UID && (st.Uid != a.self || !made) {
		return unix.EACCES
	}
	return nil
}

// adjust calls f with a path to what has a name, see checkOwner.
func (r *asRoot) adjust(name string, f func(path string) error) error {
	return r.at(name, 0, func(at string) error {
		fd, err := unix.Open(at, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return &fs.PathError{Op: "open", Path: at, Err: err}
		}
		defer unix.Close(fd)
		if err := r.as.checkOwner(fd, r.within(name)); err != nil {
			return &fs.PathError{Op: "chmod", Path: at, Err: err}
		}
		return f(procPath(fd))
	})
}

// Chmod implements [Root].
func (r *asRoot) Chmod(name string, mode fs.FileMode) error {
	return r.adjust(name, func(at string) error { return os.Chmod(at, mode) })
}

// Chtimes implements [Root].
func (r *asRoot) Chtimes(name string, atime, mtime time.Time) error {
	return r.adjust(name, func(at string) error { return os.Chtimes(at, atime, mtime) })
}

// Symlink implements [Root].
func (r *asRoot) Symlink(target, name string) error {
	return r.at(name, mayWrite, func(at string) error { return os.Symlink(target, at) })
}

// Rename implements [Root].
func (r *asRoot) Rename(from, to string) error {
	return r.at(from, mayWrite, func(from string) error {
		return r.at(to, mayWrite, func(to string) error { return os.Rename(from, to) })
	})
}

// Remove implements [Root].
func (r *asRoot) Remove(name string) error { return r.at(name, mayWrite, os.Remove) }
