// Package vfs is the seam between a store and the file system: just the calls that a store
// makes. [OS] makes them on the system's files, through an [os.Root] below the content. A
// test puts another file system in its place, in which any call fails.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// FS is a file system. Its paths are absolute.
type FS interface {
	// OpenRoot opens the directory at path.
	OpenRoot(path string) (Root, error)
	// Resolve returns the path that path leads to by symbolic links.
	Resolve(path string) (string, error)

	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	Mkdir(path string, perm fs.FileMode) error
	MkdirAll(path string, perm fs.FileMode) error
	Remove(path string) error
}

// Root is an open directory. Names are relative to it, and no symbolic link leads out of
// it. See [os.Root]. OpenFile, Lstat and LstatAll fail with [syscall.ELOOP] if a directory above
// the name is a symbolic link: what it leads to is not below the name.
type Root interface {
	// OpenFile fails with [syscall.ELOOP] if flag has [syscall.O_NOFOLLOW] and the name
	// itself is a symbolic link.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// OpenRoot opens a directory. It fails if the name itself is a symbolic link.
	OpenRoot(name string) (Root, error)
	Lstat(name string) (fs.FileInfo, error)
	// LstatAll is Lstat for several names, with nil where that fails. It looks for a
	// directory once for all neighbors in it.
	LstatAll(names []string) []fs.FileInfo
	// Born returns the time when a file was created, in Unix nanoseconds, or 0 if it is not known. A later file with its
	// inode number has another.
	Born(name string) int64
	Readlink(name string) (string, error)
	Mkdir(name string, perm fs.FileMode) error
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, atime, mtime time.Time) error
	Symlink(target, name string) error
	Rename(from, to string) error
	Remove(name string) error
	// Free returns how many bytes the file system of the directory has for this process. It
	// reports false if that is not known, as where files are compressed.
	Free() (int64, bool)
	// FineTime reports whether a recent time of a change, in Unix nanoseconds, is of a clock that is finer than the tick of the
	// system, as file systems have since Linux 6.13. Then a change after a look at the file has another time.
	FineTime(changed int64) bool
	io.Closer
}

// File is an open file or directory. See [os.File].
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Seeker
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	// SetModTime sets the modification time, and leaves the access time. It reports
	// false if the system has no such call.
	SetModTime(t time.Time) (bool, error)
	Truncate(size int64) error
	Readdirnames(n int) ([]string, error)
	Sync() error
	io.Closer

	// CopyFrom writes all of src, a file of the same file system, to an empty file. The
	// two share their blocks where the file system can.
	CopyFrom(src File) error
	// SyncFS flushes everything on the file system of the file, and reports what failed
	// to be written since the file was opened. It reports false if the system has no
	// such call.
	SyncFS() (bool, error)
	// IsHole reports whether n bytes at offset are in a hole of a sparse file. It
	// reports false if that is not certain.
	IsHole(offset, n int64) bool
	// DropCache makes the next reads come from the disk rather than from memory, where
	// the system can.
	DropCache()
}

// SyncDir flushes the names in a directory.
func SyncDir(fsys FS, path string) error {
	dir, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return Sync(dir)
}

// Sync flushes a file or directory. Not all file systems can flush a directory.
func Sync(f File) error {
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// Stat identifies a file and its last change.
type Stat struct {
	// Device and Inode distinguish a file from all other files that exist.
	Device, Inode uint64
	// Links is the number of names of the file.
	Links uint64
	// Changed is the time of the last change of the bytes, the mode or the links of the file, in Unix
	// nanoseconds. No program can set it, but with the clock.
	Changed int64
	// Allocated is the size of the file on the disk, in bytes.
	Allocated int64
}

// StatOf returns the Stat of what info describes.
func StatOf(info fs.FileInfo) Stat {
	switch st := info.Sys().(type) {
	case Stat:
		return st
	case *syscall.Stat_t:
		return Stat{
			Device: uint64(st.Dev), Inode: st.Ino, //nolint:unconvert // narrower on some systems
			Links: uint64(st.Nlink), Changed: changed(st), //nolint:unconvert // likewise
			Allocated: st.Blocks * 512,
		}
	}
	return Stat{Changed: info.ModTime().UnixNano()}
}

// SameFile reports whether a and b describe one file.
func SameFile(a, b fs.FileInfo) bool { return IDOf(a) == IDOf(b) }
