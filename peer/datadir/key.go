package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
)

const keyFile = "key"

// LoadKey loads the Ed25519 key of the node or tracker whose folder is dir. If there is
// none, LoadKey creates the folder and a new key. The peer id follows from the key, so
// links that name this node break if the file is lost. Whoever has the file can
// impersonate the node, so LoadKey fails if another user can read it.
func LoadKey(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, keyFile)
	data, err := readPrivate(path, checkKey)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	key, err := crypto.UnmarshalPrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s holds no key (%w): remove it to get a new identity", path, err)
	}
	return key, nil
}

// CopyKey copies the key of one folder to another, for a node that lives for a moment. It makes
// the key if there is none.
func CopyKey(from, to string) error {
	key, err := LoadKey(from)
	if err != nil {
		return err
	}
	return SaveKey(to, key)
}

// SaveKey makes a key that of a folder, which has none.
func SaveKey(dir string, key crypto.PrivKey) error {
	data, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	return createSecret(filepath.Join(dir, keyFile), data)
}

// makeKey writes a new key atomically. If another process is faster it loads that
// process's key.
func makeKey(dir, path string) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	data, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	err = createSecret(path, data)
	if errors.Is(err, fs.ErrExist) {
		return LoadKey(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return key, nil
}
