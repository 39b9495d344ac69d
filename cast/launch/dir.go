package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// dirPrefix is the start of the name of the program's directory.
const dirPrefix = "mob."

// openDir opens the program's directory: the one at path, which the script created, or a new one if another user
// could have created that one or could replace it.
func openDir(path string) (string, *os.Root, error) {
	if filepath.IsAbs(path) && strings.HasPrefix(filepath.Base(path), dirPrefix) {
		if root, err := openPrivate(path); err == nil {
			return path, root, nil
		}
	}
	path, err := os.MkdirTemp("", dirPrefix)
	if err != nil {
		return "", nil, err
	}
	root, err := openPrivate(path)
	if err != nil {
		_ = os.Remove(path)
	}
	return path, root, err
}

// openPrivate opens a directory. It fails unless only the user of this process can use it, and no other user can
// replace it by a link or another directory.
func openPrivate(path string) (_ *os.Root, err error) {
	root, err := os.OpenRoot(path) // follows a link
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	if st, ok := opened.Sys().(*syscall.Stat_t); !os.SameFile(named, opened) || opened.Mode().Perm() != 0o700 ||
		ok && int64(st.Uid) != int64(os.Geteuid()) {
		return nil, fmt.Errorf("%s is not a private directory of user %d", path, os.Geteuid())
	}
	parent, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if !guarded(parent) {
		return nil, fmt.Errorf("other users can change %s", filepath.Dir(path))
	}
	return root, nil
}

// guarded reports whether only root and the user of this process can replace entries of a directory that the user owns. The
// owner of the directory can, whatever its mode. The group of a user alone has the number of the user.
func guarded(dir fs.FileInfo) bool {
	st, ok := dir.Sys().(*syscall.Stat_t)
	if !ok || st.Uid != 0 && int64(st.Uid) != int64(os.Geteuid()) {
		return false
	}
	mode := dir.Mode()
	return mode&fs.ModeSticky != 0 || mode&0o022 == 0 || st.Uid == st.Gid && mode&0o002 == 0
}
