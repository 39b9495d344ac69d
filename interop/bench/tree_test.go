package bench

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mustEqual compares files, or all files of two directories.
func mustEqual(t testing.TB, want, got string) {
	t.Helper()
	wants, gots := tree(t, want), tree(t, got)
	missing, changed := 0, 0
	for name, text := range wants {
		if other, ok := gots[name]; !ok {
			missing++
		} else if !bytes.Equal(text, other) {
			changed++
		}
	}
	if missing > 0 || changed > 0 || len(gots) != len(wants) {
		t.Errorf("%s: %d files, want %d; %d missing, %d different", got, len(gots), len(wants), missing, changed)
	}
}

// mustEqualContents is mustEqual without the names of files, and without empty ones.
func mustEqualContents(t testing.TB, want, got string) {
	t.Helper()
	sums := func(root string) (all []string) {
		for _, text := range tree(t, root) {
			if len(text) > 0 {
				sum := sha256.Sum256(text)
				all = append(all, string(sum[:]))
			}
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(sums(want), sums(got)) {
		t.Errorf("the files of %s and %s differ", got, want)
	}
}

// tree reads all files below a path, or the file at that path.
func tree(t testing.TB, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}
