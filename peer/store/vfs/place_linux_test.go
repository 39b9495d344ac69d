package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPlaceOfMount mounts a subdirectory at another path. Files there are in the directory above it.
func TestPlaceOfMount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("content/in/deep"), 0o755), os.Mkdir(at("with space"), 0o755), os.Mkdir(at("file"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(at("content/in"), at("with space"), "", unix.MS_BIND, ""); err != nil {
		t.Skip("a directory cannot be mounted here: ", err)
	}
	defer func() {
		if err := unix.Unmount(at("with space"), unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
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
