// Package datadir manages the data directory of a node or a tracker: its lock, its key, and files
// that are replaced atomically.
package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile replaces a file atomically: after a crash it has the old or the new content.
func WriteFile(path string, b []byte, mode os.FileMode) error {
	temp, err := writeTemp(path, b, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // fails after the rename
	return os.Rename(temp, path)
}

// CreateFile creates a file atomically. It fails with [os.ErrExist] if there is anything at path.
func CreateFile(path string, b []byte, mode os.FileMode) error {
	temp, err := writeTemp(path, b, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err = os.Link(temp, path); err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	// Some file systems have no links.
	if _, err := os.Lstat(path); err == nil {
		return &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	return os.Rename(temp, path)
}

// writeTemp writes a file beside path, and returns its path. The name of path may be as long as the file system allows.
func writeTemp(path string, b []byte, mode os.FileMode) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".mob-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
