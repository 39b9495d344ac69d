package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPlaceLocked checks that a cast does not write to a destination while another cast does.
func TestPlaceLocked(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]bool{"file": false, "directory": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Start{Dest: filepath.Join(t.TempDir(), "dst"), Dir: dir, Force: true}
			first, err := newPlace(s, "src")
			must(t, err)
			if _, err := newPlace(s, "src"); err == nil || err.Error() != "another cast writes to "+s.Dest {
				t.Errorf("the second cast: %v", err)
			}
			first.complete.Store(true)
			must(t, first.discard(nil))
			third, err := newPlace(s, "src")
			must(t, err)
			must(t, third.discard(nil))
			if _, err := os.Lstat(s.Dest); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPlaceDiscarded checks that nothing is left of a new destination if no transfer was created in it.
func TestPlaceDiscarded(t *testing.T) {
	t.Parallel()
	for _, dir := range []bool{false, true} {
		root := t.TempDir()
		p, err := newPlace(&Start{Dest: filepath.Join(root, "new", "dst"), Dir: dir}, "src")
		must(t, err)
		must(t, p.discard(nil))
		if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}

// TestPlaceReplaced checks that a file which took the place of the destination stays when the cast ends early.
func TestPlaceReplaced(t *testing.T) {
	t.Parallel()
	s := &Start{Dest: filepath.Join(t.TempDir(), "new", "dst")}
	p, err := newPlace(s, "src")
	must(t, err)
	mine := s.Dest + ".mine"
	must(t, os.WriteFile(mine, []byte("mine"), 0o600))
	must(t, os.Rename(mine, s.Dest))
	must(t, p.discard(nil))
	if b, err := os.ReadFile(s.Dest); err != nil || string(b) != "mine" {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// TestPlaceKinds checks that what is of another kind than the content is neither replaced nor followed, and that no error proposes --force.
func TestPlaceKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(path string) error
		dir  bool // the content
		is   string
	}{
		"dangling link":        {func(path string) error { return os.Symlink("nothing", path) }, false, special},
		"link to file":         {func(path string) error { return os.Symlink("file", path) }, false, special},
		"link to directory":    {func(path string) error { return os.Symlink(".", path) }, true, special},
		"FIFO":                 {func(path string) error { return syscall.Mkfifo(path, 0o600) }, false, special},
		"file for directory":   {func(path string) error { return os.WriteFile(path, nil, 0o600) }, true, "a file"},
		"directory for a file": {func(path string) error { return os.MkdirAll(filepath.Join(path, "src"), 0o700) }, false, "a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			must(t, os.WriteFile(filepath.Join(root, "file"), []byte("mine"), 0o600))
			s := &Start{Dest: filepath.Join(root, "dst"), Dir: c.dir}
			must(t, c.make(s.Dest))
			before, err := os.Lstat(s.Dest)
			must(t, err)
			for _, s.Force = range []bool{false, true} {
				if _, err := newPlace(s, "src"); err == nil || !strings.HasSuffix(err.Error(), "is "+c.is+": remove it or choose another path") {
					t.Errorf("force %t: %v", s.Force, err)
				}
			}
			if after, err := os.Lstat(s.Dest); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced: %v", err)
			}
			if b, err := os.ReadFile(filepath.Join(root, "file")); err != nil || string(b) != "mine" {
				t.Errorf("the file has %q, %v", b, err)
			}
		})
	}
}

// TestPlaceSwapped checks that the mode of another directory stays while another process puts a link to it in the place of a new one.
func TestPlaceSwapped(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	victim, s := filepath.Join(root, "victim"), &Start{Dest: filepath.Join(root, "dst"), Dir: true}
	must(t, os.Mkdir(victim, 0o755))
	before, err := os.Stat(victim)
	must(t, err)
	for range 200 {
		swapped := make(chan error)
		go func() {
			err := fs.ErrNotExist
			for errors.Is(err, fs.ErrNotExist) {
				err = os.Rename(s.Dest, s.Dest+".aside")
			}
			swapped <- errors.Join(err, os.Symlink(victim, s.Dest))
		}()
		p, err := newPlace(s, "src")
		must(t, <-swapped)
		if after, err := os.Stat(victim); err != nil || after.Mode() != before.Mode() {
			t.Fatalf("the mode is %v, %v", after.Mode(), err)
		}
		if err == nil {
			must(t, p.discard(nil))
		}
		must(t, os.Remove(s.Dest))
		must(t, os.Remove(s.Dest+".aside"))
	}
}
