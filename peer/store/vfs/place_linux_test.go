package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted returns a directory, in which content/in is mounted at "with space", content/y at out/y and content/in/deep at out/deep.
func mounted(t *testing.T) (at func(name string) string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	dir := t.TempDir()
	at = func(name string) string { return filepath.Join(dir, name) }
	placeOf(t, dir) // reads the table of mounts before it changes
	err := errors.Join(os.MkdirAll(at("content/in/deep"), 0o755), os.MkdirAll(at("out/deep"), 0o755), os.Mkdir(at("with space"), 0o755),
		os.WriteFile(at("content/y"), nil, 0o600), os.WriteFile(at("out/y"), nil, 0o600), os.Mkdir(at("file"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"content/in": "with space", "content/y": "out/y", "content/in/deep": "out/deep"} {
		if err := unix.Mount(at(from), at(to), "", unix.MS_BIND, ""); err != nil {
			t.Skip("a directory cannot be mounted here: ", err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(at(to), unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	return at
}

// TestPlaceOfMount mounts a subdirectory at another path. Files there are in the directory above it.
func TestPlaceOfMount(t *testing.T) {
	at := mounted(t)
	content := placeOf(t, at("content"))
	for _, name := range []string{"with space", "with space/deep", "with space/new/x"} {
		if p := placeOf(t, at(name)); !content.Holds(p) || p.Holds(content) {
			t.Errorf("%s is not in the content: %+v", name, p)
		}
	}
	if p, q := placeOf(t, at("with space/new/x")), placeOf(t, at("content/in/new/x")); !p.Same(q) {
		t.Errorf("%+v and %+v", p, q)
	}
	if content.Holds(placeOf(t, at("file"))) {
		t.Error("a directory beside is in the content")
	}
}

// TestPlaceAboveMount mounts a part of a directory in another directory, which then has a part of all directories above it.
func TestPlaceAboveMount(t *testing.T) {
	at := mounted(t)
	out := placeOf(t, at("out"))
	for name, holds := range map[string]bool{
		"content": true, "content/y": true, "content/in": true, "content/in/deep": true, "content/in/deep/new": true,
		"with space": true, "content/new": false, "content/in/new": false, "file": false,
	} {
		if p := placeOf(t, at(name)); out.Holds(p) != holds || p.Holds(out) {
			t.Errorf("%s: %+v, want %v", name, p, holds)
		}
	}
}
