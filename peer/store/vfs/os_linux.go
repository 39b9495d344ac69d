package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncFS implements [File].
func (f osFile) SyncFS() (bool, error) {
	for {
		err := unix.Syncfs(int(f.Fd()))
		if err == nil {
			return true, nil
		}
		if err != unix.EINTR {
			return true, os.NewSyscallError("syncfs", err)
		}
	}
}

// zfs is the type of OpenZFS in statfs(2). Several of its releases report a hole where
// data has not reached the disk yet (openzfs/zfs#11900, #15526).
const zfs = 0x2fc12fc1

// IsHole implements [File]. It reports false on errors, on ZFS, and on file systems that do
// not track holes.
//
// It moves the position of f, which reads and writes at offsets do not use. The call
// itself returns the answer, so several goroutines may ask at a time.
func (f osFile) IsHole(offset, n int64) bool {
	next, err := f.Seek(offset, unix.SEEK_DATA)
	if err == nil && next < offset+n || err != nil && !errors.Is(err, unix.ENXIO) {
		return false
	}
	// No data from here to the end of the file, or the end is before.
	if info, err := f.Stat(); err != nil || info.Size() < offset+n {
		return false
	}
	var fs unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &fs) == nil && fs.Type != zfs
}

// Free implements [Root].
func (r osRoot) Free() (int64, bool) {
	f, err := r.Root.OpenFile(".", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || fs.Type == zfs || fs.Blocks == 0 {
		return 0, false
	}
	blocks, size := fs.Bavail, fs.Frsize
	if os.Geteuid() == 0 {
		blocks = fs.Bfree
	}
	if size == 0 {
		size = fs.Bsize
	}
	return int64(blocks) * size, true
}

// DropCache implements [File].
func (f osFile) DropCache() {
	// Pages that could not be written count as clean, and are dropped too.
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
