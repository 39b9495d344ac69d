package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLstatAll compares it with Lstat for files, links, what is missing, and what is behind a
// link.
func TestLstatAll(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755),
		os.WriteFile(filepath.Join(dir, "a", "x"), []byte("x"), 0o644),
		os.WriteFile(filepath.Join(dir, "a", "b", "x"), nil, 0o600),
		os.WriteFile(filepath.Join(outside, "x"), nil, 0o600),
		os.Symlink("x", filepath.Join(dir, "a", "link")),
		os.Symlink(outside, filepath.Join(dir, "out")),
		os.Symlink("a", filepath.Join(dir, "in")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := OS{}.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names := []string{"a", "a/x", "a/none", "a/link", "a/b/x", "a/x/y", "none/x", "out/x", "in/x", "out", "a/x"}
	for i, name := range names {
		names[i] = filepath.FromSlash(name)
	}
	found := 0
	for i, info := range r.LstatAll(names) {
		want, err := r.Lstat(names[i])
		if (info != nil) != (err == nil) || info != nil && !os.SameFile(info, want) {
			t.Errorf("%s: %v, want %v, %v", names[i], info, want, err)
		}
		if info != nil {
			found++
		}
	}
	if found != 6 {
		t.Errorf("found %d of 6", found)
	}
}

// TestFineTime changes a file again, if the last change has a fine time: then the second one has another.
func TestFineTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	r, err := OS{}.OpenRoot(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	change := func() int64 {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return StatOf(info).Changed
	}
	fine := 0
	for range 200 {
		if first := change(); r.FineTime(first) {
			fine++
			if second := change(); second == first {
				t.Fatalf("two changes have the time %d", first)
			}
		}
	}
	t.Logf("%d of 200 times are fine", fine)
}
