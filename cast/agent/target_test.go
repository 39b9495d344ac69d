package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTargetKeepsMode replaces a file by a stream. The new file has the mode of the old one, and is
// private until it has its name.
func TestTargetKeepsMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o600, 0o640, 0o444} {
		dest := filepath.Join(t.TempDir(), "dest")
		if err := os.WriteFile(dest, []byte("old"), mode); err != nil {
			t.Fatal(err)
		}
		f, err := createTarget(dest, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		info, err := f.file.Stat()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("while it is written: %v, %v", info.Mode(), err)
		}
		if err := f.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err = os.Stat(dest)
		if err != nil || info.Mode().Perm() != mode || info.Size() != 3 {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
	}
}
