package store_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

func timeOf(ns int64) time.Time { return time.Unix(0, ns) }

// replace replaces the file at path by another of the same size and time.
func replace(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(path+"~", make([]byte, info.Size()), 0o600),
		os.Chtimes(path+"~", time.Time{}, info.ModTime()),
		os.Rename(path+"~", path),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// changes lists changes by other programs to the file a/x, which is pieces 0 and 1.
var changes = []struct {
	name        string
	part, whole string // states of the pieces after it, before and after Finish
	do          func(p *place) error
}{
	{"nothing", "vvvv-", "vvvvv", func(*place) error { return nil }},
	{"removed", "--vv-", "--vvv", func(p *place) error { return os.Remove(p.path("a/x")) }},
	{"truncated", "ddvv-", "ddvvv", func(p *place) error { return os.Truncate(p.path("a/x"), piece+7) }},
	{"extended", "ddvv-", "ddvvv", func(p *place) error { return os.Truncate(p.path("a/x"), 3*piece) }},
	{"replaced", "ddvv-", "ddvvv", func(p *place) error { replace(p.t, p.path("a/x")); return nil }},
	{"touched", "ddvv-", "ddvvv", func(p *place) error { return os.Chtimes(p.path("a/x"), time.Time{}, timeOf(1)) }},
	{"made a directory", "--vv-", "--vvv", func(p *place) error {
		return errors.Join(os.Remove(p.path("a/x")), os.Mkdir(p.path("a/x"), 0o700))
	}},
	{"made a link", "--vv-", "--vvv", func(p *place) error {
		return errors.Join(os.Rename(p.path("a/x"), p.path("a/y")), os.Symlink("y", p.path("a/x")))
	}},
	{"directory made a link", "--vv-", "--vvv", func(p *place) error {
		outside := filepath.Join(p.t.TempDir(), "a")
		return errors.Join(os.Rename(p.path("a"), outside), os.Symlink(outside, p.path("a")))
	}},
}

func TestChangedBetweenRuns(t *testing.T) {
	for _, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			d := p.create()
			p.put(d, 0, 1, 2, 3)
			p.ok(d.Close())
			p.ok(test.do(p))
			d = p.open()
			p.want(d, test.part)
			p.ok(d.Close())
			d = p.open()
			p.want(d, test.part)
			p.recheck(d)
			p.refill(d)
		})
	}
}

// refill writes and commits the missing pieces, and finishes, unless something is in the
// way of a/x. If that is another file, it removes it.
func (p *place) refill(d *store.Disk) {
	p.t.Helper()
	for i := range p.Manifest.Pieces() {
		if d.Has(i) {
			continue
		}
		if info, err := os.Stat(p.path("a/x")); err == nil && info.IsDir() {
			return
		}
		if info, err := os.Lstat(p.path("a")); err == nil && !info.IsDir() {
			return
		}
		if info, err := os.Lstat(p.path("a/x")); err == nil && !info.Mode().IsRegular() {
			return
		}
		var exists *store.ExistsError
		if _, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i)); errors.As(err, &exists) {
			p.ok(os.Remove(exists.Path))
		}
		p.put(d, i)
	}
	p.ok(d.Finish())
	p.Verify(p.t, p.root)
}

func TestChangedComplete(t *testing.T) {
	for _, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			d := p.fetched()
			p.ok(d.Close())
			p.ok(test.do(p))
			d = p.open()
			p.want(d, test.whole)
			p.ok(d.Close())
			d = p.open()
			p.want(d, test.whole)
			p.recheck(d)
			if test.name == "touched" {
				p.want(d, "vvvvv") // the user's time stays
				return
			}
			p.refill(d)
		})
	}
}

// TestTouchedComplete checks that a whole content with new times is hashed once.
func TestTouchedComplete(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	p.ok(p.got(p.seed()).Close())
	p.ok(os.Chtimes(p.path("b"), time.Time{}, timeOf(5)))
	d := p.open()
	p.want(d, "vvdvv")
	p.recheck(d)
	p.want(d, "vvvvv")
	p.ok(d.Close())
	p.want(p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, [16]byte{3})), "vvvvv")
}

// TestChangedWhileInUse changes a file that the store has closed to open another.
func TestChangedWhileInUse(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(p *place) error
		is   error // cause of the read's error, if any
	}{
		{"removed", func(p *place) error { return os.Remove(p.path("a/x")) }, fs.ErrNotExist},
		{"truncated", func(p *place) error { return os.Truncate(p.path("a/x"), 5) }, io.ErrUnexpectedEOF},
		{"directory removed", func(p *place) error { return os.RemoveAll(p.path("a")) }, fs.ErrNotExist},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			p.files = store.NewFiles(1)
			d := p.create()
			p.put(d, 0, 3) // closes a/x
			p.ok(test.do(p))
			_, err := d.ReadAt(make([]byte, 100), 0)
			var changed *store.ChangedError
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), p.path("a/x")) {
				t.Errorf("read: %v", err)
			}
			if _, err := d.WriteAt(p.Piece(1), piece); !errors.As(err, &changed) {
				t.Errorf("write: %v", err)
			}
			if good, err := store.NewVerifier(p.Manifest).Check(d, 0); good || err != nil {
				t.Errorf("check: %v, %v", good, err)
			}
		})
	}
}

func TestTruncatedWhileOpen(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.create()
	p.put(d, 0, 1, 2, 3, 4)
	p.ok(os.Truncate(p.path("a/x"), 5))
	if n, err := d.ReadAt(make([]byte, 100), 0); n != 5 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read: %d, %v", n, err)
	}
	var changed *store.ChangedError
	if err := d.Finish(); !errors.As(err, &changed) {
		t.Errorf("finish: %v", err)
	}
	replace(t, p.path("b"))
	p.ok(os.Truncate(p.path("a/x"), 2*piece))
	if err := d.Finish(); !errors.As(err, &changed) || changed.Path != p.path("b") {
		t.Errorf("finish: %v", err)
	}
}

// TestLinkAttack replaces a directory and a file by links during the transfer.
func TestLinkAttack(t *testing.T) {
	entries := []string{"a/x", "a/y", "b"}
	p := newPlace(t, storetest.Make(t, 1, storetest.Dir("a"), storetest.File("a/x", piece), storetest.File("a/y", piece),
		storetest.File("b", piece), storetest.File("z", piece)))
	p.files = store.NewFiles(1)
	outside := t.TempDir()
	secret := filepath.Join(outside, "x")
	p.ok(os.WriteFile(secret, []byte("secret"), 0o600))
	d := p.create()
	p.put(d, 0, 3) // closes a/x
	p.ok(os.RemoveAll(p.path("a")))
	p.ok(os.Symlink(outside, p.path("a")))
	p.ok(os.Symlink(secret, p.path("b")))
	for i, name := range entries {
		p.ok(d.Forget(i))
		if _, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i)); err == nil {
			t.Errorf("%s: no error of a write", name)
		}
		if _, err := d.ReadAt(make([]byte, 10), p.Manifest.PieceOffset(i)); err == nil {
			t.Errorf("%s: no error of a read", name)
		}
		p.ok(d.Commit(i))
	}
	if err := d.Finish(); err == nil {
		t.Error("finish: no error")
	}
	p.ok(d.Close())
	p.want(p.open(), "---v")
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
	p.gone(filepath.Join(outside, "y"))
	p.ok(os.Rename(p.root, p.root+"2"))
	p.ok(os.Symlink(p.root+"2", p.root))
	if _, err := store.Open(p.dir, p.root, p.Manifest, p.files); err == nil {
		t.Error("open through a link: no error")
	}
}

// TestChangedBeforeFinish changes a file after the content was published, and before the
// disk is flushed: its time stays, it is hashed again, and it is not removed with the content.
func TestChangedBeforeFinish(t *testing.T) {
	for name, change := range map[string]func(p *place){
		"edited": func(p *place) {
			f, err := os.OpenFile(p.path("b"), os.O_WRONLY, 0)
			p.ok(err)
			_, err = f.WriteString("x")
			p.ok(errors.Join(err, f.Close()))
		},
		"edited, times put back": func(p *place) { p.flip(p.path("b"), 10) },
	} {
		t.Run(name, func(t *testing.T) {
			p := removable(t)
			d := p.create()
			p.putAll(d)
			p.ok(d.Publish())
			change(p)
			p.ok(os.WriteFile(p.path("e"), []byte("mine"), 0))
			changed, err := os.Stat(p.path("b"))
			p.ok(err)
			p.ok(d.Finish())
			if info, err := os.Stat(p.path("b")); err != nil || !info.ModTime().Equal(changed.ModTime()) {
				t.Errorf("it has another time: %v", err)
			}
			p.ok(d.Close())
			p.remove("b: changed since it was fetched", "e: changed since it was fetched")
			d = p.open()
			if !slices.Contains(d.Unverified(), true) {
				t.Error("none of its pieces is unverified")
			}
			p.ok(d.Close())
		})
	}
}

// TestDirChangedBeforeFinish changes the mode of a directory after the content was published, or replaces one. Finish leaves
// both.
func TestDirChangedBeforeFinish(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.ok(os.Chmod(p.path("a/in"), 0o700))
	p.ok(os.Remove(p.path("c")))
	p.ok(os.WriteFile(p.path("c"), nil, 0o400))
	p.ok(d.Finish())
	for name, want := range map[string]os.FileMode{"a/in": os.ModeDir | 0o700, "c": 0o400} {
		if info, err := os.Stat(p.path(name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	p.ok(d.Close())
}

// TestTruncatedBeforeFinish truncates a file after the content was published. The file had its mode and time before that, so
// Publish did not open it. Finish leaves the file as it is, and Look reports it.
func TestTruncatedBeforeFinish(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.ok(d.Close())
	d = p.open()
	p.ok(d.Publish())
	p.ok(os.Truncate(p.path("b"), 5))
	p.ok(d.Finish())
	if info, err := os.Stat(p.path("b")); err != nil || info.Size() != 5 {
		t.Errorf("it has %d bytes, %v; want 5", info.Size(), err)
	}
	if state, err := d.Look(t.Context()); err != nil || !slices.Equal(state.Different, []store.Difference{{Path: "b", What: store.Cut}}) {
		t.Errorf("Look reports %v, %v", state.Different, err)
	}
	p.ok(d.Close())
	p.remove("b: changed since it was fetched")
}

// TestTruncatedBeforePublish truncates a file after the store was opened with all pieces. Publish does not extend it.
func TestTruncatedBeforePublish(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Close())
	d = p.open()
	p.ok(os.Truncate(p.path("b"), 5))
	var changed *store.ChangedError
	if err := d.Publish(); !errors.As(err, &changed) || changed.Path != p.path("b") {
		t.Errorf("Publish: %v", err)
	}
	if info, err := os.Stat(p.path("b")); err != nil || info.Size() != 5 {
		t.Errorf("it has %d bytes, %v; want 5", info.Size(), err)
	}
}

// TestTruncatedWhileWritten truncates a file that is open for writing. The next write fails, and does not extend it by zeros.
// All of the file is hashed again after that.
func TestTruncatedWhileWritten(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.create()
	p.put(d, 0)
	p.ok(os.Truncate(p.path("a/x"), 7))
	var changed *store.ChangedError
	if _, err := d.WriteAt(p.Piece(1), piece); !errors.As(err, &changed) || changed.Path != p.path("a/x") {
		t.Errorf("WriteAt: %v", err)
	}
	p.ok(os.Truncate(p.path("a/x"), 2*piece)) // as a write does that saw the former size
	p.ok(d.Close())
	p.want(p.open(), "d----")
}

// TestEmptyFileReplacedBeforeFinish replaces an empty file by another one after the content was published. Finish does
// not set its mode.
func TestEmptyFileReplacedBeforeFinish(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.ok(os.WriteFile(p.root+"-e", nil, 0o400))
	p.ok(os.Rename(p.root+"-e", p.path("e")))
	p.ok(d.Finish())
	if info, err := os.Stat(p.path("e")); err != nil || info.Mode() != 0o400 {
		t.Errorf("it has mode %v, %v", info.Mode(), err)
	}
	p.ok(d.Close())
}

// TestRemovedBeforeFinish removes files, a directory, a link and an empty file after the content was published, or
// replaces a file. Finish succeeds, and does not create them.
func TestRemovedBeforeFinish(t *testing.T) {
	for name, remove := range map[string]func(p *place) error{
		"removed":  func(p *place) error { return os.Remove(p.path("b")) },
		"replaced": func(p *place) error { replace(p.t, p.path("b")); return nil },
		"made a link": func(p *place) error {
			return errors.Join(os.Rename(p.path("b"), p.root+"-b"), os.Symlink(p.root+"-b", p.path("b")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := removable(t)
			p.files = store.NewFiles(1)
			d := p.create()
			p.putAll(d)
			p.ok(d.Publish())
			p.ok(remove(p))
			for _, name := range []string{"a/y", "c", "e", "l"} {
				p.ok(os.Remove(p.path(name)))
			}
			p.ok(d.Finish())
			p.ok(d.Close())
			for _, name := range []string{"a/y", "c", "e", "l"} {
				p.gone(p.path(name))
			}
			d = p.open()
			if d.Has(3) {
				t.Error("b is not there, and its piece is verified")
			}
		})
	}
}

// TestReplacedBeforeReboot replaces a file, as some editors do, before the machine starts again. The new file is the user's, and is
// not written to.
func TestReplacedBeforeReboot(t *testing.T) {
	for name, do := range map[string]func(p *place){
		"complete": func(p *place) { p.ok(p.fetched().Close()) },
		"partly fetched": func(p *place) {
			d := p.create()
			p.put(d, 0, 1)
			p.ok(d.Close())
		},
		"taken over": func(p *place) {
			p.Write(p.t, p.root)
			d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
			p.recheck(d)
			p.ok(errors.Join(d.Finish(), d.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			do(p)
			replace(t, p.path("a/x"))
			edited, err := os.ReadFile(p.path("a/x"))
			p.ok(err)
			d := p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, [16]byte{3}))
			p.recheck(d)
			var exists *store.ExistsError
			if _, err := d.WriteAt(p.Piece(0), 0); !errors.As(err, &exists) {
				t.Errorf("write: %v", err)
			}
			if is, err := os.ReadFile(p.path("a/x")); !bytes.Equal(is, edited) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}
