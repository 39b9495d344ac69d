package control

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckPlace compares what two processes see at a path.
func TestCheckPlace(t *testing.T) {
	here, elsewhere := t.TempDir(), t.TempDir()
	for _, name := range []string{".", "new", "new/x"} {
		path := filepath.Join(here, name)
		for what, seen := range map[string]error{
			"the same":          checkPlace(path, placeOf(nil, path), placeOf(nil, path)),
			"an older client's": checkPlace(path, placeOf(nil, path), nil),
		} {
			if seen != nil {
				t.Errorf("%s: %s: %v", name, what, seen)
			}
		}
		if checkPlace(path, placeOf(nil, path), placeOf(nil, filepath.Join(elsewhere, name))) == nil {
			t.Errorf("%s: another directory counts as the same", name)
		}
	}
	path := filepath.Join(here, "made/later")
	before := placeOf(nil, path)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := checkPlace(path, placeOf(nil, path), before); err != nil {
		t.Errorf("a directory that was made in between: %v", err)
	}
}
