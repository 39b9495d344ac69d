package store_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// TestBindMount shows one directory of the content at the place of another.
func TestBindMount(t *testing.T) {
	for name, full := range map[string]bool{"new": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, storetest.Make(t, 1, storetest.Dir("a"), storetest.File("a/x", piece),
				storetest.Dir("b"), storetest.File("b/x", piece)))
			for _, dir := range []string{"a", "b"} {
				p.ok(os.MkdirAll(p.path(dir), 0o755))
			}
			if full {
				p.ok(os.WriteFile(p.path("a/x"), p.Piece(0), 0o600))
			}
			if err := syscall.Mount(p.path("a"), p.path("b"), "", syscall.MS_BIND, ""); err != nil {
				t.Skip("no right to mount a directory at another place: ", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(p.path("b"), syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			var alias *store.AliasError
			d, err := store.Adopt(p.dir, p.root, p.Manifest, p.files)
			if err == nil {
				p.got(d, nil)
				for i := range 2 {
					if _, err = d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i)); err != nil {
						break
					}
				}
			}
			if !errors.As(err, &alias) || alias.Path != p.path("a/x") || alias.Other != p.path("b/x") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestFoldingDisk writes names that differ in case only to an ext4 that folds them.
func TestFoldingDisk(t *testing.T) {
	dir := t.TempDir()
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	for _, command := range [][]string{
		{"truncate", "--size=16M", image},
		{"mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8", image},
		{"mkdir", mount},
		{"mount", "-o", "loop", image, mount},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no file system that folds names: %v: %s", err, out)
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := newPlace(t, storetest.Make(t, 1, storetest.File("File", piece), storetest.File("fILE", piece)))
	p.root = filepath.Join(mount, "content")
	p.ok(os.Mkdir(p.root, 0o755))
	if out, err := exec.Command("chattr", "+F", p.root).CombinedOutput(); err != nil {
		t.Skipf("no directory that folds names: %v: %s", err, out)
	}
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.put(d, 0)
	var alias *store.AliasError
	if _, err := d.WriteAt(p.Piece(1), piece); !errors.As(err, &alias) {
		t.Errorf("%v", err)
	}
}
