package tracker

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
const keyFile = "tracker.key"

// LoadKey is the tracker's identity in dir, made at the first call. A tracker's
// address holds its peer id, so links stay good only while this file does.
func LoadKey(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, keyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	key, err := crypto.UnmarshalPrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("tracker key %s is damaged: %w", path, err)
	}
	return key, nil
}

// makeKey writes a new key so that it appears whole or not at all, and only if
// no other process was faster.
func makeKey(dir, path string) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	data, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	temp, err := os.CreateTemp(dir, keyFile+".*") // readable by its owner only
	if err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	defer os.Remove(temp.Name())
	_, werr := temp.Write(data)
	if err := errors.Join(werr, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return LoadKey(dir)
	} else if err != nil {
		return nil, fmt.Errorf("tracker key: %w", err)
	}
	return key, nil
}
