package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// removable has a file in a read-only directory, an empty file, a symbolic link and an empty
// directory.
func removable(t *testing.T) *place {
	c := storetest.Make(t, 3, storetest.Dir("a"), storetest.Dir("a/in"), storetest.File("a/in/x", 2*piece),
		storetest.File("a/y", piece/2), storetest.File("b", piece), storetest.Dir("c"), storetest.File("e", 0),
		storetest.Link("l", "b"))
	c.Manifest.Entries[1].Mode = 0o555
	return newPlace(t, c)
}

// remove removes the content, and compares what is left with "path: why".
func (p *place) remove(want ...string) {
	p.t.Helper()
	left, err := store.Remove(p.dir, p.root, p.Manifest, p.files)
	p.ok(err)
	var got []string
	for _, l := range left {
		path, err := filepath.Rel(p.root, l.Path)
		p.ok(err)
		got = append(got, path+": "+l.Why)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("left are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (p *place) exists(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if _, err := os.Lstat(p.path(name)); err != nil {
			p.t.Error(err)
		}
	}
}

// TestRemoveComplete removes a whole content that the user has changed in many ways.
func TestRemoveComplete(t *testing.T) {
	const foreign, changed, replaced = ": not part of the content", ": changed since it was fetched", ": replaced by something else"
	for _, test := range []struct {
		name string
		do   func(p *place) error
		left []string
	}{
		{"nothing", func(*place) error { return nil }, nil},
		{"file added", func(p *place) error { return os.WriteFile(p.path("mine.txt"), nil, 0o600) }, []string{"mine.txt" + foreign}},
		{"file added in directories", func(p *place) error {
			return os.WriteFile(p.path("a/in/mine.txt"), nil, 0o600)
		}, []string{"a/in/mine.txt" + foreign, "a/in: not empty", "a: not empty"}},
		{"file replaced", func(p *place) error { replace(p.t, p.path("b")); return nil }, []string{"b" + changed}},
		{"file edited in place", func(p *place) error {
			f, err := os.OpenFile(p.path("b"), os.O_WRONLY, 0)
			p.ok(err)
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		}, []string{"b" + changed}},
		{"file truncated", func(p *place) error { return os.Truncate(p.path("a/y"), 5) }, []string{"a/y" + changed, "a: not empty"}},
		{"empty file written", func(p *place) error { return os.WriteFile(p.path("e"), []byte("x"), 0o600) }, []string{"e" + changed}},
		{"empty file with another mode", func(p *place) error { return os.Chmod(p.path("e"), 0o755) }, []string{"e" + changed}},
		{"empty file with the mode of a transfer", func(p *place) error { return os.Chmod(p.path("e"), 0o600) }, []string{"e" + changed}},
		{"link leads elsewhere", func(p *place) error {
			p.ok(os.Remove(p.path("l")))
			return os.Symlink("a", p.path("l"))
		}, []string{"l" + replaced}},
		{"file made a link", func(p *place) error {
			p.ok(os.Rename(p.path("b"), p.root+"-moved"))
			return os.Symlink(p.root+"-moved", p.path("b"))
		}, []string{"b" + replaced}},
		{"directory made a link inside", func(p *place) error {
			p.ok(os.Chmod(p.path("a"), 0o755))
			p.ok(os.Rename(p.path("a"), p.path("z")))
			return os.Symlink("z", p.path("a"))
		}, []string{"a" + replaced, "z" + foreign}},
		{"some removed", func(p *place) error { return os.Remove(p.path("b")) }, nil},
		{"all removed", func(p *place) error { return os.RemoveAll(p.root) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := removable(t)
			d := p.fetched()
			p.ok(d.Close())
			p.ok(test.do(p))
			p.remove(test.left...)
			if len(test.left) == 0 {
				p.gone(p.root)
			}
			for _, l := range test.left {
				name, _, _ := strings.Cut(l, ":")
				p.exists(name)
			}
			p.remove(test.left...)
		})
	}
}

// TestRemovePart removes what a transfer wrote that took over a directory of the user.
func TestRemovePart(t *testing.T) {
	p := removable(t)
	p.ok(os.MkdirAll(p.path("a"), 0o755))
	p.ok(os.WriteFile(p.path("a/y"), make([]byte, piece/2), 0o600))
	p.ok(os.WriteFile(p.path("mine.txt"), []byte("mine"), 0o600))
	p.ok(os.WriteFile(p.path("e"), nil, 0o600))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.recheck(d)
	p.put(d, 0) // the first half of a/in/x
	p.ok(d.Close())
	p.remove("a: not empty", "a/y: not created by this transfer", "e: not created by this transfer",
		"mine.txt: not part of the content")
	p.exists("a/y", "e", "mine.txt")
	p.gone(p.path("a/in"))
}

// TestRemoveUntouched removes content of which nothing has come yet.
func TestRemoveUntouched(t *testing.T) {
	for _, name := range []string{"", "x"} {
		p := newPlace(t, single(t))
		if name != "" {
			p.Content = storetest.Make(t, 1, storetest.File(name, piece))
		}
		p.ok(p.create().Close())
		p.remove()
		p.gone(p.root)
	}
}

func TestRemoveWithoutJournal(t *testing.T) {
	p := removable(t)
	p.Write(t, p.root)
	p.remove(".: not created by this transfer")
	p.Verify(t, p.root)
}

func TestRemoveSeed(t *testing.T) {
	p := removable(t)
	p.Write(t, p.root)
	p.ok(p.got(p.seed()).Close())
	if _, err := store.Remove(p.dir, p.root, p.Manifest, p.files); err == nil {
		t.Error("a seed is removed")
	}
	p.Verify(t, p.root)
}

// TestRemoveOtherModes removes content with an empty file that has another mode than the transfer would give it now: the umask has
// changed, or the file system ignores modes.
func TestRemoveOtherModes(t *testing.T) {
	p := removable(t)
	for i := range p.Manifest.Entries {
		if e := &p.Manifest.Entries[i]; e.Path == "e" {
			e.Mode = 0o755
		}
	}
	p.files.SetUmask(0o077)
	p.ok(p.fetched().Close())
	p.files = store.NewFiles(16)
	p.remove()
	p.gone(p.root)
}

// TestRemoveMany leaves more than it names.
func TestRemoveMany(t *testing.T) {
	p := newPlace(t, single(t))
	p.Content = storetest.Make(t, 1, storetest.File("x", piece))
	d := p.fetched()
	p.ok(d.Close())
	for i := range 150 {
		p.ok(os.WriteFile(p.path(strings.Repeat("m", i+1)), nil, 0o600))
	}
	left, err := store.Remove(p.dir, p.root, p.Manifest, p.files)
	p.ok(err)
	if len(left) != 101 || left[100].Why != "and 50 more" {
		t.Errorf("%d left, the last %+v", len(left), left[len(left)-1])
	}
	p.gone(p.path("x"))
}
