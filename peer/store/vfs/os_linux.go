package vfs

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

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

// changed returns the time of the last change of a file, in Unix nanoseconds.
func changed(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

// Born implements [Root].
func (r osRoot) Born(name string) (t int64) {
	if conn, err := r.dir.SyscallConn(); err == nil {
		_ = conn.Control(func(dir uintptr) { t = born(int(dir), name) }) // 0 if r is closed
	}
	return t
}

func born(dir int, name string) int64 {
	var st unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// SetModTime implements [File].
func (f osFile) SetModTime(t time.Time) (bool, error) {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(t.UnixNano())}
	err := unix.UtimesNanoAt(int(f.Fd()), "", times, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EINVAL) {
		return false, nil // before Linux 5.8
	}
	return true, os.NewSyscallError("utimensat", err)
}

// passFlags open a directory that is only passed through.
const passFlags = unix.O_PATH | unix.O_DIRECTORY

// openBeneath opens a file by one call, where [os.Root] opens each directory on the way. It
// reports false if that has to be done: on an older kernel, and where something other than a symbolic link
// is in the way.
func (r osRoot) openBeneath(name string, flag int, perm fs.FileMode) (f *os.File, done bool, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flag) | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_LARGEFILE,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	if flag&os.O_CREATE != 0 {
		how.Mode = uint64(perm)
	}
	conn, err := r.dir.SyscallConn()
	if err != nil {
		return nil, false, nil //nolint:nilerr // Root says that it is closed
	}
	fd := -1
	// It stays open during the call.
	closed := conn.Control(func(dir uintptr) { fd, err = unix.Openat2(int(dir), name, &how) })
	switch {
	case closed != nil:
		return nil, false, nil
	case err == nil:
		return os.NewFile(uintptr(fd), filepath.Join(r.Name(), name)), true, nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ELOOP):
		return nil, true, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return nil, false, nil
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
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && st.Type != zfs
}

// Free implements [Root].
func (r osRoot) Free() (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(r.dir.Fd()), &st); err != nil || st.Type == zfs || st.Blocks == 0 {
		return 0, false
	}
	blocks := st.Bavail
	if os.Geteuid() == 0 {
		blocks = st.Bfree
	}
	return int64(blocks) * cmp.Or(st.Frsize, st.Bsize), true
}

// FineTime implements [Root]. Other systems set the times of a network's file system.
func (r osRoot) FineTime(changed int64) bool {
	var st unix.Statfs_t
	var tick unix.Timespec
	if unix.Fstatfs(int(r.dir.Fd()), &st) != nil || unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &tick) != nil {
		return false
	}
	switch st.Type {
	case unix.BTRFS_SUPER_MAGIC, unix.EXT4_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.XFS_SUPER_MAGIC:
		return changed > tick.Nano()
	}
	return false
}

// DropCache implements [File].
func (f osFile) DropCache() {
	// Pages that could not be written count as clean, and are dropped too.
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
