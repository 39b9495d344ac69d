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

// keyFile is the name of the identity's file.
const keyFile = "key"

// LoadKey is the Ed25519 identity of the node or tracker whose folder is dir,
// made at the first call. Its address holds the peer id, so links stay good only
// while this file does. Whoever has the file can pose as the node.
func LoadKey(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, keyFile)
	data, err := os.ReadFile(path)
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

// makeKey writes a new key so that it appears whole or not at all, and only if
// no other process was faster.
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
	temp, err := os.CreateTemp(dir, keyFile+".*") // readable by its owner only
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	defer os.Remove(temp.Name())
	_, werr := temp.Write(data)
	if err := errors.Join(werr, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return LoadKey(dir)
	} else if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return key, nil
}
