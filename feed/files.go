package feed

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// opener opens the files of a version at a path. A FIFO there does not block it.
func opener(root string) func(path string) (io.ReaderAt, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	return func(path string) (io.ReaderAt, error) {
		if path == "" {
			return os.OpenFile(root, flags, 0)
		}
		dir, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return dir.OpenFile(filepath.FromSlash(path), flags, 0)
	}
}

// switchLink makes a symbolic link, which replaces an earlier link atomically. It fails if there is something else.
func switchLink(path, target string) error {
	fi, err := os.Lstat(path)
	if err == nil && fi.Mode()&os.ModeSymlink == 0 {
		return &os.PathError{Op: "replace", Path: path, Err: syscall.EEXIST}
	}
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
