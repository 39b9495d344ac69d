package peer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// LoadKey reads the node's Ed25519 key from dir, and makes one there the first
// time. The key is the node's identity: whoever has the file can pose as it.
func LoadKey(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, "key")
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newKey(path)
	}
	if err != nil {
		return nil, err
	}
	key, err := crypto.UnmarshalPrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("%s holds no key (%w): remove it to get a new identity", path, err)
	}
	return key, nil
}

func newKey(path string) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, err
	}
	b, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writeFile(path, b, 0o600)
}

// writeFile replaces a file as a whole: after a crash it is the old or the new.
func writeFile(path string, b []byte, mode os.FileMode) error {
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
