package datadir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// ReadSecret reads a file whose content is a secret. It fails if another user can read it.
func ReadSecret(path string) ([]byte, error) { return readPrivate(path, checkSecret) }

// readPrivate reads a file that check accepts.
func readPrivate(path string, check func(path string, info os.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxSecret))
}

// LoadSecret reads the file of a secret. If there is none, LoadSecret writes one with the content b,
// which nobody else can read.
func LoadSecret(path string, b []byte) ([]byte, error) {
	old, err := ReadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return old, err
	}
	if err := createSecret(path, b); !errors.Is(err, fs.ErrExist) {
		return b, err
	}
	return ReadSecret(path) // another process was faster
}

// createSecret creates a file atomically. It fails if the file exists.
func createSecret(path string, b []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // readable by its owner only
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(b)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), path) // fails if path exists
}
