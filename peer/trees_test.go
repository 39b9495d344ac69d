package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/peertest"
)

// put writes a file, with the directories above it.
func put(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// randomTree makes a directory with files of random bytes, all of one size.
func randomTree(t testing.TB, size int, names ...string) (dir string, files map[string][]byte) {
	t.Helper()
	_, content := peertest.RandomFile(t, size*len(names))
	dir, files = filepath.Join(t.TempDir(), "tree"), map[string][]byte{}
	for i, name := range names {
		files[name] = content[i*size : (i+1)*size]
		put(t, filepath.Join(dir, name), string(files[name]))
	}
	return dir, files
}
