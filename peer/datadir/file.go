// Package datadir is the folder that a node or a tracker keeps its own files in: its
// lock, its key, and files that are replaced as a whole.
package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile replaces a file as a whole: after a crash it is the old or the new.
func WriteFile(path string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // of no effect once it is renamed
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
