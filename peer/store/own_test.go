package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// wantExists checks that an error names a file of the user, which has its bytes.
func (p *place) wantExists(err error, name string) {
	p.t.Helper()
	var exists *store.ExistsError
	if !errors.As(err, &exists) || exists.Path != p.path(name) {
		p.t.Errorf("error is %v, want one that %s exists", err, name)
	}
	if got, err := os.ReadFile(p.path(name)); err != nil || string(got) != "mine" {
		p.t.Errorf("%s has %q, %v", name, got, err)
	}
}

// TestForeignFiles creates files, and a link, at names of the content while it is fetched.
func TestForeignFiles(t *testing.T) {
	mine := func(p *place, name string) { p.ok(os.WriteFile(p.path(name), []byte("mine"), 0o600)) }
	t.Run("file", func(t *testing.T) {
		p := removable(t)
		d := p.create()
		mine(p, "b")
		p.put(d, 0, 1)
		_, err := d.WriteAt(p.Piece(3), 3*piece)
		p.wantExists(err, "b")
		p.ok(os.Remove(p.path("b")))
		p.putMissing(d)
		p.ok(d.Finish())
		p.Verify(t, p.root)
	})
	for _, name := range []string{"e", "l"} {
		t.Run(name, func(t *testing.T) {
			p := removable(t)
			d := p.create()
			mine(p, name)
			p.putAll(d)
			p.wantExists(d.Publish(), name)
			p.ok(d.Close())
			p.remove(name + map[string]string{"e": ": changed since it was fetched", "l": ": replaced by something else"}[name])
		})
	}
	t.Run("after a restart", func(t *testing.T) {
		p := removable(t)
		d := p.create()
		p.put(d, 0, 1)
		p.ok(d.Close())
		mine(p, "b")
		d = p.open()
		_, err := d.WriteAt(p.Piece(3), 3*piece)
		p.wantExists(err, "b")
		p.ok(d.TakeOver())
		p.put(d, 2, 3)
		p.ok(d.Finish())
		p.Verify(t, p.root)
		p.ok(d.Close())
		p.remove("b: not created by this transfer")
	})
}

// TestTakeOverOfPart fetches one piece, and takes over files that the user puts in the place of the content. Nothing that is
// there is fetched again.
func TestTakeOverOfPart(t *testing.T) {
	p := removable(t)
	p.Manifest.Root = &proto.Entry{Kind: proto.Dir, Mode: 0o700, MTime: proto.NoMTime}
	d := p.create()
	p.put(d, 0)
	p.ok(errors.Join(d.Close(), os.RemoveAll(p.root)))
	p.Write(t, p.root)
	p.ok(errors.Join(os.Remove(p.path("b")), os.Chmod(p.root, 0o755)))
	d = p.open()
	p.ok(d.TakeOver())
	p.recheck(d)
	p.want(d, "vv--")
	p.putMissing(d)
	p.ok(d.Finish())
	p.Verify(t, p.root)
	p.wantMode(".", 0o700)
}

// TestTakeOverKeepsMode takes over a directory of the user's for content whose manifest has no mode for it.
func TestTakeOverKeepsMode(t *testing.T) {
	p := removable(t)
	p.ok(errors.Join(os.Mkdir(p.root, 0o750), os.Chmod(p.root, 0o750)))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.ok(d.TakeOver())
	p.putAll(d)
	p.ok(d.Finish())
	p.Verify(t, p.root)
	p.wantMode(".", 0o750)
}

// TestTakeOverComplete changes a link and an empty file of a complete copy, and takes them over. They are as in the content again.
func TestTakeOverComplete(t *testing.T) {
	p := removable(t)
	p.ok(p.fetched().Close())
	p.ok(errors.Join(os.WriteFile(p.path("e"), []byte("mine"), 0o644), os.Remove(p.path("l")), os.Symlink("mine", p.path("l"))))
	d := p.open()
	p.ok(d.TakeOver())
	p.ok(d.Finish())
	p.Verify(t, p.root)
	p.ok(d.Close())
	p.remove("e: not created by this transfer", "l: not created by this transfer")
}

// TestOpenEmptied deletes all files with bytes of a copy, and fetches them again. The directories and links that stayed are the
// transfer's still.
func TestOpenEmptied(t *testing.T) {
	for _, complete := range []bool{false, true} {
		p := removable(t)
		d := p.create()
		p.put(d, 0, 1, 2, 3)
		if complete {
			p.ok(d.Finish())
		}
		p.ok(d.Close())
		p.ok(errors.Join(os.Chmod(p.path("a/in"), 0o755), os.RemoveAll(p.path("a/in/x")), os.Remove(p.path("a/y")), os.Remove(p.path("b"))))
		d = p.got(store.OpenEmptied(p.dir, p.root, p.Manifest, p.files))
		p.want(d, "----")
		p.putAll(d)
		p.ok(d.Finish())
		p.Verify(t, p.root)
		p.ok(d.Close())
		p.remove()
		p.gone(p.root)
	}
}

// TestTakeOverOtherKind takes over a directory with something of another kind at the name of an entry. The error does not
// advise to take it over.
func TestTakeOverOtherKind(t *testing.T) {
	for name, create := range map[string]func(path string) error{
		"b": func(path string) error { return os.Symlink("x", path) },
		"l": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"a": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"a/in": func(path string) error {
			return errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.Symlink(t.TempDir(), path))
		},
	} {
		p := removable(t)
		p.ok(errors.Join(os.Mkdir(p.root, 0o755), create(p.path(name))))
		d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
		var err error
		for i := 0; i < p.Manifest.Pieces() && err == nil; i++ {
			if _, err = d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i)); err == nil {
				err = d.Commit(i)
			}
		}
		if err == nil {
			err = d.Publish()
		}
		var exists *store.ExistsError
		if !errors.As(err, &exists) || !exists.OtherKind || exists.Path != p.path(name) || strings.Contains(err.Error(), "--reuse") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLinkToDirectory takes over a directory in which a link to another one, with a file of the user, has the name of a
// directory of the content. Nothing is written there.
func TestLinkToDirectory(t *testing.T) {
	for name, size := range map[string]int64{"some bytes": 3, "the size": 2 * piece} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, storetest.Make(t, 1, storetest.Dir("d"), storetest.File("d/x", 2*piece), storetest.File("d/y", 2*piece)))
			mine := make([]byte, size)
			p.ok(errors.Join(os.MkdirAll(p.path("mine"), 0o755), os.WriteFile(p.path("mine/x"), mine, 0o644), os.Symlink("mine", p.path("d"))))
			d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
			p.ok(d.TakeOver())
			for _, i := range []int{0, 2} {
				_, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i))
				var exists *store.ExistsError
				if !errors.As(err, &exists) || !exists.OtherKind || exists.Path != p.path("d") {
					t.Errorf("error is %v, want one that d exists", err)
				}
			}
			if got, err := os.ReadFile(p.path("mine/x")); err != nil || !bytes.Equal(got, mine) {
				t.Errorf("the file of the user has %d bytes, want %d: %v", len(got), size, err)
			}
			if names, err := os.ReadDir(p.path("mine")); err != nil || len(names) != 1 {
				t.Errorf("the directory of the user has %v: %v", names, err)
			}
			p.ok(d.Close())
			p.remove("d: replaced by something else", "mine: not part of the content")
		})
	}
}

// TestRemoveTakenOver removes a transfer that took over every entry and wrote nothing.
func TestRemoveTakenOver(t *testing.T) {
	p := removable(t)
	p.Write(t, p.root)
	for range 2 { // once more after a restart
		d, err := store.Open(p.dir, p.root, p.Manifest, p.files)
		if err != nil {
			d = p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
		}
		p.recheck(d)
		p.ok(d.Finish())
		p.ok(d.Close())
	}
	const found = ": not created by this transfer"
	p.remove("a/in/x"+found, "a/in: not empty", "a/y"+found, "a: not empty", "b"+found, "c"+found, "e"+found, "l"+found)
	p.Verify(t, p.root)
}

// TestRemoveDamaged removes a transfer after one file was changed that shares a piece with another.
func TestRemoveDamaged(t *testing.T) {
	p := removable(t)
	d := p.fetched()
	p.flip(p.path("b"), 3)
	p.ok(d.Forget(2)) // the end of a/y, the start of b
	p.ok(d.Close())
	p.remove("b: changed since it was fetched")
}

// TestRemoveTouched removes a file whose times changed, and one that was edited, after both were hashed again.
func TestRemoveTouched(t *testing.T) {
	p := removable(t)
	d := p.fetched()
	p.ok(d.Close())
	p.ok(os.Chtimes(p.path("a/y"), timeOf(1), timeOf(1)))
	p.flip(p.path("b"), piece-1)
	d = p.open()
	p.recheck(d)
	p.ok(d.Close())
	p.remove("b: changed since it was fetched")
}

// TestRemoveGrown appends to files, has their pieces hashed again, which are right, and removes the content. The files stay.
func TestRemoveGrown(t *testing.T) {
	p := removable(t)
	d := p.fetched()
	grow := func(path string, is fs.FileInfo) error { return os.Truncate(path, is.Size()+9) }
	p.change("b", grow)
	changed := d.Changed()
	p.recheckAll(d, p.has(d))
	p.ok(errors.Join(d.Accept(changed, p.has(d)), d.Close()))
	p.change("a/y", grow)
	d = p.open()
	p.recheck(d)
	p.ok(d.Close())
	p.remove("b: changed since it was fetched", "a/y: changed since it was fetched", "a: not empty")
}

// TestRemoveEmptyTouched sets the mode of an empty file again between Publish and Finish, and removes the content. The file stays.
func TestRemoveEmptyTouched(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.change("e", func(path string, is fs.FileInfo) error { return os.Chmod(path, is.Mode()) })
	p.ok(d.Finish())
	p.ok(d.Close())
	p.remove("e: changed since it was fetched")
}

// TestRemovePartlyRepaired truncates a file, has one of its two pieces fetched again, and removes the content. The file stays.
func TestRemovePartlyRepaired(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.change("b", func(path string, _ fs.FileInfo) error { return os.Truncate(path, 10) })
	p.ok(errors.Join(d.Forget(2), d.Forget(3)))
	p.put(d, 2)
	p.ok(d.Close())
	p.remove("b: changed since it was fetched")
}

// change repeats a change of a file until its stamp differs.
func (p *place) change(name string, do func(path string, is fs.FileInfo) error) {
	p.t.Helper()
	before, err := os.Stat(p.path(name))
	p.ok(err)
	for after := before; vfs.StatOf(after).Changed == vfs.StatOf(before).Changed; {
		p.ok(do(p.path(name), before))
		after, err = os.Stat(p.path(name))
		p.ok(err)
	}
}

// TestAgainLeavesFoundFile starts over at a destination where the user has put a file with a mode that the store gives
// it.
func TestAgainLeavesFoundFile(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		p := newPlace(t, tree(t))
		p.ok(os.Mkdir(p.root, 0o755))
		p.ok(os.WriteFile(p.path("c"), []byte("mine"), 0o600))
		p.ok(os.Chmod(p.path("c"), mode))
		d := p.got(store.Again(p.dir, p.root, p.Manifest, p.files))
		_, err := d.WriteAt(p.Piece(3), p.Manifest.PieceOffset(3))
		p.wantExists(err, "c")
		p.ok(d.Close())
	}
}

// TestForeignEmptyFiles creates empty files at names of the content, at different times, or changes the mode of a published
// one. The store does not change them, and does not write to one where the content has bytes.
func TestForeignEmptyFiles(t *testing.T) {
	mine := func(p *place, name string, mode fs.FileMode) {
		p.ok(errors.Join(os.RemoveAll(p.path(name)), os.WriteFile(p.path(name), nil, 0o600), os.Chmod(p.path(name), mode)))
	}
	again := func(p *place, change func()) *store.Disk {
		d := p.fetched()
		p.ok(d.Close())
		change()
		d = p.open()
		p.ok(d.Forget(0))
		return d
	}
	for name, test := range map[string]struct {
		mode fs.FileMode
		do   func(p *place) *store.Disk // until Finish
		left string
	}{
		"before": {0o400, func(p *place) *store.Disk {
			p.ok(os.Mkdir(p.root, 0o755))
			mine(p, "e", 0o400)
			return p.got(store.Again(p.dir, p.root, p.Manifest, p.files))
		}, "not created by this transfer"},
		"during": {0o600, func(p *place) *store.Disk {
			d := p.create()
			mine(p, "e", 0o600)
			return d
		}, "not created by this transfer"},
		"before a restart": {0o400, func(p *place) *store.Disk {
			p.ok(p.create().Close())
			mine(p, "e", 0o400)
			return p.open()
		}, "not created by this transfer"},
		"replaced": {0o600, func(p *place) *store.Disk {
			return again(p, func() { mine(p, "e", 0o600) })
		}, "not created by this transfer"},
		"mode changed": {0o400, func(p *place) *store.Disk {
			return again(p, func() { p.ok(os.Chmod(p.path("e"), 0o400)) })
		}, "changed since it was fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			p := removable(t)
			d := test.do(p)
			before, err := os.Stat(p.path("e"))
			p.ok(err)
			p.putMissing(d)
			p.ok(d.Finish())
			after, err := os.Stat(p.path("e"))
			p.ok(err)
			if !os.SameFile(before, after) || after.Mode() != test.mode || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("it was %v of %v, and is %v of %v", before.Mode(), before.ModTime(), after.Mode(), after.ModTime())
			}
			p.ok(d.Close())
			p.remove("e: " + test.left)
		})
	}
	p := removable(t)
	p.ok(p.create().Close())
	mine(p, "b", 0o640)
	_, err := p.open().WriteAt(p.Piece(3), 3*piece)
	var exists *store.ExistsError
	if info, statErr := os.Stat(p.path("b")); !errors.As(err, &exists) || exists.Path != p.path("b") || statErr != nil || info.Size() > 0 {
		t.Errorf("a write to b: %v, %v", err, statErr)
	}
}

// TestEmptyFileWritten writes to an empty file that was published. Before Finish, the next Publish fails and names the file;
// after that, it leaves the file.
func TestEmptyFileWritten(t *testing.T) {
	for _, finish := range []bool{false, true} {
		p := removable(t)
		d := p.create()
		p.putAll(d)
		p.ok(d.Publish())
		if finish {
			p.ok(d.Finish())
		}
		p.ok(os.WriteFile(p.path("e"), []byte("mine"), 0o600))
		p.ok(d.Close())
		d = p.open()
		p.ok(d.Forget(0))
		p.put(d, 0)
		var exists *store.ExistsError
		if err := d.Publish(); finish && err != nil || !finish && (!errors.As(err, &exists) || exists.Path != p.path("e")) {
			t.Errorf("finished %v: %v", finish, err)
		}
		if b, err := os.ReadFile(p.path("e")); string(b) != "mine" {
			t.Errorf("the file has %q, %v", b, err)
		}
		p.ok(d.Close())
	}
}

// TestForeignDirectories creates empty directories at names of the content during the transfer. They keep their modes, and stay
// when the content is removed. Directories that the transfer created do not.
func TestForeignDirectories(t *testing.T) {
	for _, adopt := range []bool{false, true} {
		p := removable(t)
		var d *store.Disk
		if adopt {
			p.ok(os.Mkdir(p.root, 0o755))
			d = p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
		} else {
			d = p.create()
		}
		p.ok(os.Mkdir(p.path("a"), 0o700))
		p.ok(os.Mkdir(p.path("c"), 0o500))
		if adopt {
			p.ok(d.Close())
			p.ok(os.WriteFile(p.path("a/mine"), nil, 0o600))
			d = p.open()
			p.ok(os.Remove(p.path("a/mine")))
		}
		p.putAll(d)
		p.ok(d.Publish())
		p.wantMode("a", 0o700)
		p.wantMode("c", 0o500)
		p.ok(d.Finish())
		p.ok(d.Close())
		p.wantMode("a", 0o700)
		const found = ": not created by this transfer"
		left := []string{"a" + found, "c" + found}
		p.remove(left...)
		p.exists("a", "c")
		p.gone(p.path("a/in"))
		p.ok(os.Remove(p.path("a")))
		p.ok(os.Remove(p.path("c")))
		if adopt {
			p.remove("." + found)
		} else {
			p.remove()
			p.gone(p.root)
		}
	}
}

func (p *place) wantMode(name string, want fs.FileMode) {
	p.t.Helper()
	info, err := os.Stat(p.path(name))
	p.ok(err)
	if got := info.Mode().Perm(); got != want {
		p.t.Errorf("%s has mode %v, want %v", name, got, want)
	}
}

// TestFoundDirectories starts over, or takes over, at a destination of the user with directories. Only a transfer that takes them
// over gives them the modes of the content.
func TestFoundDirectories(t *testing.T) {
	for reuse, want := range map[bool]fs.FileMode{false: 0o700, true: 0o755} {
		p := removable(t)
		p.Manifest.Root = &proto.Entry{Kind: proto.Dir, Mode: 0o755, MTime: proto.NoMTime}
		start := map[bool]func(string, string, *proto.Manifest, *store.Files) (*store.Disk, error){false: store.Again, true: store.Adopt}[reuse]
		p.ok(os.Mkdir(p.root, 0o700))
		p.ok(os.Mkdir(p.path("a"), 0o700))
		d := p.got(start(p.dir, p.root, p.Manifest, p.files))
		p.putAll(d)
		p.ok(d.Finish())
		p.wantMode(".", want)
		p.wantMode("a", want)
		p.wantMode("a/in", 0o555)
		p.ok(d.Close())
	}
}
