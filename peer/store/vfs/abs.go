package vfs

import (
	"errors"
	"os"
	"path/filepath"
)

// Abs is [filepath.Abs], except that ".." after a symbolic link is the directory above the target, as for the kernel. Directories
// that do not exist are not links.
func Abs(path string) (string, error) {
	before, after, up := "", path, false
	for i := len(path) - len(".."); i >= 0 && !up; i-- {
		if up = path[i:i+2] == ".." && (i == 0 || os.IsPathSeparator(path[i-1])) && (i+2 == len(path) || os.IsPathSeparator(path[i+2])); up {
			before, after = path[:i], path[i+2:]
		}
	}
	if !up {
		return filepath.Abs(path)
	}
	above, err := Abs(before)
	if err != nil {
		return "", err
	}
	switch resolved, err := filepath.EvalSymlinks(above); {
	case err == nil:
		above = resolved
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	return filepath.Join(filepath.Dir(above), after), nil
}
