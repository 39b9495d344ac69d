package datadir

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
)

const keyFile = "key"

// LoadKey loads the Ed25519 key of a node or tracker from its data directory. If there is none,
// it creates the directory and a new key. The peer id follows from the key, so links that contain
// it become invalid if the file is lost. Anyone with the file can impersonate the node, so LoadKey
// fails if another user can read it.
func LoadKey(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, keyFile)
	data, err := loadPrivate(path, ", or remove it to get a new identity if one of them may have read it", func() ([]byte, error) {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return nil, err
		}
		return crypto.MarshalPrivateKey(key)
	})
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	key, err := crypto.UnmarshalPrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s holds no key (%w): remove it to get a new identity", path, err)
	}
	return key, nil
}

// CopyKey copies the key of one data directory to another, for a short-lived node. It makes the key
// if there is none.
func CopyKey(from, to string) error {
	key, err := LoadKey(from)
	if err != nil {
		return err
	}
	return SaveKey(to, key)
}

// SaveKey stores the key of a data directory. It fails with [fs.ErrExist] if there is one.
func SaveKey(dir string, key crypto.PrivKey) error {
	data, err := crypto.MarshalPrivateKey(key)
	if err == nil {
		err = createSecret(filepath.Join(dir, keyFile), data)
	}
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	return nil
}
