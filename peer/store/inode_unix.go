//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// inode returns the number that distinguishes a file from one that replaced it.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino) //nolint:unconvert // narrower on some systems
	}
	return 0
}
