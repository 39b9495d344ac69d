package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFileSystem flushes everything on the file system of f. It reports false
// if the system has no such call.
func syncFileSystem(f *os.File) (bool, error) {
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
