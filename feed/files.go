package feed

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/peer"
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

// sameDirectory reports whether two paths name one directory: one of them may be a symbolic link.
func sameDirectory(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return a == b || errOne == nil && errOther == nil && os.SameFile(one, other)
}

// makeDirectory makes the directory of the versions before there is one. It fails if versions cannot be written there.
func makeDirectory(n *peer.Node, dir string) error {
	err := n.CheckPath(VersionPath(dir, 0)) // no version has that
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return err
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// switchLink makes a symbolic link to a version, which replaces an earlier one atomically. It fails if there is something else.
func switchLink(path, target string) error {
	temporary := path + ".new"
	for _, p := range []string{path, temporary} {
		if _, ok := versionLink(p); !ok {
			return fmt.Errorf("%s exists and is not a link to a version: move it away", p)
		}
	}
	if err := os.Remove(temporary); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// versionLink returns the version that a symbolic link leads to, 0 if there is nothing at its path. It reports false for anything else.
func versionLink(path string) (seq uint64, ok bool) {
	target, err := os.Readlink(path)
	if err != nil {
		return 0, os.IsNotExist(err)
	}
	seq, err = strconv.ParseUint(target, 10, 63)
	return seq, err == nil
}
