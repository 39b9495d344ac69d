package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Follow returns fs for content whose symbolic links are followed: names in an open directory lead
// through links, out of it too. Nothing can be changed in it.
func Follow(fs FS) FS { return follow{fs} }

// Follows reports whether fs is one of [Follow].
func Follows(fs FS) bool { _, ok := fs.(follow); return ok }

type follow struct{ FS }

// OpenRoot implements [FS].
func (f follow) OpenRoot(path string) (Root, error) {
	r, err := f.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return followRoot{r, f.FS, path}, nil
}

// followRoot is an open directory whose links are followed.
type followRoot struct {
	Root
	fs   FS
	path string
}

// resolve returns the path that a name leads to.
func (r followRoot) resolve(name string) (string, error) {
	return r.fs.Resolve(filepath.Join(r.path, name))
}

// OpenFile implements [Root].
func (r followRoot) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	path, err := r.resolve(name)
	if err != nil {
		return nil, err
	}
	return r.fs.OpenFile(path, flag, perm)
}

// OpenRoot implements [Root].
func (r followRoot) OpenRoot(name string) (Root, error) {
	in, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return followRoot{in, r.fs, filepath.Join(r.path, name)}, nil
}

// Lstat implements [Root]. It describes what a link leads to.
func (r followRoot) Lstat(name string) (fs.FileInfo, error) {
	if name == "." { // the open directory, wherever its path leads now
		return r.Root.Lstat(name)
	}
	path, err := r.resolve(name)
	if err != nil {
		return nil, err
	}
	return r.fs.Lstat(path)
}

// LstatAll implements [Root].
func (r followRoot) LstatAll(names []string) []fs.FileInfo {
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		if info, err := r.Lstat(name); err == nil {
			infos[i] = info
		}
	}
	return infos
}
