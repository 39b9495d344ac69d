package datadir

import (
	"os"

	"golang.org/x/sys/unix"
)

// InMemory creates a file without a name in memory, or in a directory where the system has no such files.
func InMemory(dir string) (*os.File, error) {
	fd, err := unix.MemfdCreate("mob", unix.MFD_CLOEXEC)
	if err != nil {
		return Unnamed(dir)
	}
	return os.NewFile(uintptr(fd), "memory"), nil
}
