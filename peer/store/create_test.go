package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

const piece = 256 << 10

func single(t *testing.T) storetest.Content { return storetest.Make(t, 1, storetest.File("", 3*piece)) }

// tree has files of two, a half and two pieces.
func tree(t *testing.T) storetest.Content {
	return storetest.Make(t, 2, storetest.Dir("a"),
		storetest.File("a/x", 2*piece), storetest.File("b", piece/2), storetest.File("c", 2*piece))
}

func TestCreateErrors(t *testing.T) {
	base := t.TempDir()
	dir, file := filepath.Join(base, "dir"), filepath.Join(base, "file")
	for _, err := range []error{
		os.Mkdir(dir, 0o755),
		os.WriteFile(file, nil, 0o644),
		os.Symlink("nowhere", filepath.Join(base, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		root    string
		content storetest.Content
		exists  bool
		text    string
	}{
		{dir, single(t), true, "is a directory and the content is a single file: " +
			"give the path of the file itself, such as " + dir + "/content"},
		{dir, tree(t), true, "exists already: remove it or choose another path"},
		{file, single(t), true, "exists already"},
		{file, tree(t), true, "exists already"},
		{filepath.Join(base, "link"), single(t), true, "exists already"},
		{filepath.Join(base, "no", "x"), single(t), false, "does not exist: create it first"},
		{filepath.Join(file, "x"), tree(t), false, "is not a directory"},
	} {
		state := t.TempDir()
		_, err := store.Create(state, test.root, test.content.Manifest, store.NewFiles(4))
		var exists *store.ExistsError
		if errors.As(err, &exists) != test.exists || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %q", test.root, err, test.text)
		}
		if left, err := os.ReadDir(state); err != nil || len(left) > 0 {
			t.Errorf("%s: leaves %v, %v", test.root, left, err)
		}
	}
}

func TestCreateWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	for _, c := range []storetest.Content{single(t), tree(t)} {
		p := newPlace(t, c)
		p.ok(os.Chmod(filepath.Dir(p.root), 0o555))
		_, err := store.Create(p.dir, p.root, p.Manifest, p.files)
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "choose another path") {
			t.Errorf("%v", err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	p := newPlace(t, single(t))
	if _, err := store.Open(p.dir, p.root, p.Manifest, p.files); !errors.Is(err, store.ErrNoJournal) {
		t.Errorf("nothing there: %v", err)
	}
	d := p.create()
	p.put(d, 0)
	p.ok(d.Close())
	other := tree(t)
	if _, err := store.Open(p.dir, p.root, other.Manifest, p.files); !errors.Is(err, store.ErrWrongContent) {
		t.Errorf("another content: %v", err)
	}
	p.ok(os.Remove(p.root))
	if _, err := store.Open(p.dir, p.root, p.Manifest, p.files); !errors.Is(err, store.ErrGone) {
		t.Errorf("content gone: %v", err)
	}
	p.gone(p.root)
}

// TestOpenBeforeFirstPiece opens after a crash between the creation of the journal and
// that of the destination.
func TestOpenBeforeFirstPiece(t *testing.T) {
	for _, c := range []storetest.Content{single(t), tree(t)} {
		p := newPlace(t, c)
		p.ok(p.create().Close())
		p.ok(os.RemoveAll(p.root))
		d := p.open()
		p.putAll(d)
		p.ok(d.Finish())
		p.Verify(t, p.root)
	}
}

func TestAdopt(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	p.ok(os.Remove(p.path("a/x")))
	p.ok(os.WriteFile(p.path("c"), p.Data[2*piece+piece/2:3*piece+10], 0o600))
	p.ok(os.WriteFile(p.path("mine"), nil, 0o600))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.want(d, "--ddd")
	p.recheck(d)
	p.want(d, "--v--")
	p.put(d, 4, 0, 3, 1)
	p.ok(d.Finish())
	p.ok(os.Remove(p.path("mine")))
	p.ok(os.Chtimes(p.path("a"), timeOf(storetest.MTime), timeOf(storetest.MTime)))
	p.Verify(t, p.root)

	p = newPlace(t, single(t))
	p.putAll(p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files)))
	q := newPlace(t, tree(t))
	var exists *store.ExistsError
	if _, err := store.Adopt(q.dir, p.root, q.Manifest, q.files); !errors.As(err, &exists) {
		t.Errorf("file in the place of a directory: %v", err)
	}
}

func TestFinishStartsOver(t *testing.T) {
	c := storetest.Make(t, 1, storetest.Dir("a"),
		storetest.File("a/x", 2*piece), storetest.File("e", 0), storetest.Link("l", "a/x"))
	c.Manifest.Entries[0].Mode, c.Manifest.Entries[1].Mode = 0o555, 0o444
	p := newPlace(t, c)
	d := p.create()
	p.putAll(d)
	// As left by a Finish that did not complete.
	p.ok(os.WriteFile(p.path("e"), nil, 0o600))
	p.ok(os.Symlink("a/x", p.path("l")))
	p.ok(os.Chmod(p.path("a/x"), 0o444))
	p.ok(os.Chmod(p.path("a"), 0o555))
	p.ok(d.Close())
	p.ok(p.open().Finish())
	p.Verify(t, p.root)
	p.ok(os.Chmod(p.path("a"), 0o755)) // for the cleanup
}

func TestFinishBlocked(t *testing.T) {
	p := newPlace(t, storetest.Make(t, 1, storetest.Dir("a"), storetest.File("f", piece), storetest.Link("l", "f")))
	d := p.create()
	p.putAll(d)
	p.ok(os.WriteFile(p.path("l"), nil, 0o600))
	var exists *store.ExistsError
	if err := d.Finish(); !errors.As(err, &exists) || exists.Path != p.path("l") {
		t.Errorf("file in the place of the link: %v", err)
	}
	p.ok(os.Remove(p.path("l")))
	p.ok(os.Remove(p.path("a")))
	p.ok(os.Symlink(".", p.path("a")))
	if err := d.Finish(); !errors.As(err, &exists) || exists.Path != p.path("a") {
		t.Errorf("link in the place of the directory: %v", err)
	}
	p.ok(os.Remove(p.path("a")))
	p.ok(d.Finish())
	p.Verify(t, p.root)
}
