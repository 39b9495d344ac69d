package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func placeOf(t *testing.T, path string) Place {
	t.Helper()
	p, err := PlaceOf(OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlace compares the places of paths, of which some lead through links, and some do not exist.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("a/b"), 0o755), os.WriteFile(at("a/b/file"), nil, 0o644), os.Symlink("a/b", at("link")),
		os.Symlink("nothing", at("dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p, q                string
		same, holds, within bool
	}{
		{"a/b", "a/b", true, true, true},
		{"a/b", "link", true, true, true},
		{"link/file", "a/b/file", true, true, true},
		{"a", "link", false, true, false},
		{"a", "link/new/x", false, true, false},
		{"a/b/new", "link/new", true, true, true},
		{"a/b/new", "link/new/x", false, true, false},
		{"a/b/new", "link/newer", false, false, false},
		{"a/b/file/x", "link/file/x", true, true, true},
		{"a/new", "link/new", false, false, false},
		{"dangling", "dangling", true, true, true},
		{".", "dangling/x", false, true, false},
	} {
		p, q := placeOf(t, at(c.p)), placeOf(t, at(c.q))
		if p.Same(q) != c.same || p.Holds(q) != c.holds || q.Holds(p) != c.within {
			t.Errorf("%s and %s: same %t, holds %t, within %t", c.p, c.q, p.Same(q), p.Holds(q), q.Holds(p))
		}
	}
	before := placeOf(t, at("a/b"))
	if err := os.Rename(at("a"), at("renamed")); err != nil {
		t.Fatal(err)
	}
	if after := placeOf(t, at("renamed/b")); !after.Same(before) {
		t.Error("a directory whose parent was renamed is another place")
	}
	if (Place{}).Same(Place{}) || (Place{}).Holds(before) || before.Holds(Place{}) {
		t.Error("an unknown place overlaps")
	}
}
