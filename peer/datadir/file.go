// Package datadir manages the folder in which a node or a tracker keeps its own files: its
// lock, its key, and files that are replaced atomically.
package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile replaces a file atomically: after a crash it has the old or the new content.
func WriteFile(path string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
