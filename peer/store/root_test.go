package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// swapping is the system's file system. Before the directory of the content is opened or removed, by its path or by its name
// in the directory above, it calls a function.
type swapping struct {
	vfs.FS
	root   string
	before func(call string)
}

func (s *swapping) call(call, path string) {
	if path == s.root {
		s.before(call)
	}
}

// OpenRoot implements [vfs.FS].
func (s *swapping) OpenRoot(path string) (vfs.Root, error) {
	s.call("open", path)
	r, err := s.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return swappingRoot{r, s, path}, nil
}

// Remove implements [vfs.FS].
func (s *swapping) Remove(path string) error {
	s.call("remove", path)
	return s.FS.Remove(path)
}

type swappingRoot struct {
	vfs.Root
	s    *swapping
	path string
}

// OpenRoot implements [vfs.Root].
func (r swappingRoot) OpenRoot(name string) (vfs.Root, error) {
	r.s.call("open", filepath.Join(r.path, name))
	return r.Root.OpenRoot(name)
}

// Remove implements [vfs.Root].
func (r swappingRoot) Remove(name string) error {
	r.s.call("remove", filepath.Join(r.path, name))
	return r.Root.Remove(name)
}

// TestRootBecomesLink replaces the directory of content by a link to another one, just before it is opened or removed. The
// call fails, and the other directory stays as it is.
func TestRootBecomesLink(t *testing.T) {
	fetched := func(p *place) {
		d := p.fetched()
		p.ok(d.Close())
	}
	made := func(p *place) { p.ok(os.Mkdir(p.root, 0o755)) }
	opens := func(open func(dir, root string, c storetest.Content, files *store.Files) (*store.Disk, error)) func(p *place, f vfs.FS) error {
		return func(p *place, f vfs.FS) error {
			d, err := open(p.dir, p.root, p.Content, store.NewFilesOn(f, 16))
			if err == nil {
				p.putAll(d)
				p.ok(d.Close())
			}
			return err
		}
	}
	removes := func(p *place, f vfs.FS) error {
		_, err := store.Remove(p.dir, p.root, p.Manifest, store.NewFilesOn(f, 1))
		return err
	}
	for name, test := range map[string]struct {
		call   string
		before func(p *place)
		do     func(p *place, f vfs.FS) error
	}{
		"create": {"open", func(*place) {}, opens(func(dir, root string, c storetest.Content, f *store.Files) (*store.Disk, error) {
			return store.Create(dir, root, c.Manifest, f)
		})},
		"adopt": {"open", made, opens(func(dir, root string, c storetest.Content, f *store.Files) (*store.Disk, error) {
			return store.Adopt(dir, root, c.Manifest, f)
		})},
		"open": {"open", fetched, opens(func(dir, root string, c storetest.Content, f *store.Files) (*store.Disk, error) {
			return store.Open(dir, root, c.Manifest, f)
		})},
		"scan": {"open", fetched, func(p *place, f vfs.FS) error {
			_, err := store.Scan(t.Context(), p.root, store.ScanOptions{FS: f})
			return err
		}},
		"remove": {"open", fetched, removes},
		"remove the directory": {"remove", fetched, func(p *place, f vfs.FS) error {
			_ = removes(p, f) // the link may be removed
			return fs.ErrExist
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			other := t.TempDir()
			test.before(p)
			swapped := false
			f := &swapping{vfs.OS{}, p.root, func(call string) {
				if call == test.call && !swapped {
					swapped = true
					p.ok(os.Rename(p.root, p.root+"-was"))
					p.ok(os.Symlink(other, p.root))
				}
			}}
			if err := test.do(p, f); err == nil || !swapped {
				t.Errorf("it succeeds; a link was there: %v", swapped)
			}
			left, err := os.ReadDir(other)
			p.ok(err)
			if len(left) > 0 {
				t.Errorf("the other directory has %v", left)
			}
			if _, err := os.Stat(other); err != nil {
				t.Error(err)
			}
		})
	}
}
