package datadir

import (
	"errors"
	"os"
)

// Unnamed creates a file without a name in a directory. It is deleted when it is closed, or the process ends.
func Unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "mob-unnamed-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
