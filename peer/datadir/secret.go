package datadir

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// ReadSecret reads a file with secret content. It fails if another user can read it.
func ReadSecret(path string) ([]byte, error) { return readPrivate(path, "") }

// readPrivate is ReadSecret with a hint for the error of a file that other users can read.
func readPrivate(path, hint string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(path, hint, info); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxSecret))
}

// LoadSecret reads the file of a secret. If there is none, LoadSecret creates it with new content, readable by its owner
// only.
func LoadSecret(path string, create func() ([]byte, error)) ([]byte, error) {
	return loadPrivate(path, "", create)
}

// loadPrivate is LoadSecret with the hint of readPrivate.
func loadPrivate(path, hint string, create func() ([]byte, error)) ([]byte, error) {
	old, err := readPrivate(path, hint)
	if !errors.Is(err, fs.ErrNotExist) {
		return old, err
	}
	b, err := create()
	if err != nil {
		return nil, err
	}
	if err := createSecret(path, b); !errors.Is(err, fs.ErrExist) {
		return b, err
	}
	return readPrivate(path, hint) // another process was faster
}

func createSecret(path string, b []byte) error { return CreateFile(path, b, 0o600) }
