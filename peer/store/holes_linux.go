package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// zfs is the type of OpenZFS in statfs(2). Several of its releases called data a
// hole that was not on the disk yet (openzfs/zfs#11900, #15526).
const zfs = 0x2fc12fc1

// isHole reports whether n bytes at offset of f are in a hole. File systems that
// keep no account of holes call everything data; so does this on ZFS, and on
// errors.
//
// The position of f, which this moves, is of no use to those who read and write
// at offsets; the answer comes from the call itself, so several may ask at a time.
func isHole(f *os.File, offset, n int64) bool {
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
