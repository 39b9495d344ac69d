package store_test

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// settles reports whether the system can set the time of an open file.
const settles = runtime.GOOS == "linux"

// smallFiles is content of a piece of files, a file of two pieces, and another file.
func smallFiles(t *testing.T) storetest.Content {
	return storetest.Make(t, 1, storetest.Dir("a"), storetest.File("a/x", piece/2), storetest.File("a/y", piece/2),
		storetest.File("b", 2*piece), storetest.File("c", 100))
}

// TestSettle checks that small files get modes and times with their last pieces, on Linux, and larger files
// with Publish.
func TestSettle(t *testing.T) {
	p := newPlace(t, smallFiles(t))
	d := p.create()
	p.put(d, 0, 1, 2)
	for name, want := range map[string]bool{"a/x": settles, "a/y": settles, "b": false} {
		info, err := os.Stat(p.path(name))
		p.ok(err)
		final := info.Mode().Perm() == 0o640 && info.ModTime().UnixNano() == storetest.MTime
		if final != want {
			t.Errorf("%s has its mode and time: %v, want %v", name, final, want)
		}
	}
	p.put(d, 3)
	p.finish(d)
}

// finish publishes and closes a store that has all four pieces, and checks that it knows them when it is opened again.
func (p *place) finish(d *store.Disk) {
	p.t.Helper()
	p.ok(d.Publish())
	p.Verify(p.t, p.root)
	p.ok(d.Finish())
	p.ok(d.Close())
	p.want(p.open(), "vvvv")
}

// TestSettledFilesStayClosed checks that Publish opens no file that has its mode and time.
func TestSettledFilesStayClosed(t *testing.T) {
	p := faulty(t, kind{more: 50})
	d, err := store.Create(faultDir, faultRoot, p.Manifest, store.NewFilesOn(p.fs, 99))
	p.ok(err)
	for i := range p.Manifest.Pieces() {
		_, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i))
		p.ok(err)
		p.ok(d.Commit(i))
	}
	p.fs.SetPlan(&faultPlan{Only: func(call, name string) bool {
		return strings.HasPrefix(name, "more") && call != "lstat" && call != "close"
	}})
	p.ok(d.Publish())
	if n := p.fs.Calls(); n > 0 {
		t.Errorf("%d calls besides looking for the files", n)
	}
	p.ok(d.Finish())
	p.ok(d.Close())
	p.verify("after it was published")
}

// TestChangedAfterSettle changes a file between its last piece and Publish.
func TestChangedAfterSettle(t *testing.T) {
	for _, test := range []struct {
		name   string
		do     func(p *place, path string) error
		fails  bool
		states string // of the pieces once the store is opened again
	}{
		{"removed", func(_ *place, path string) error { return os.Remove(path) }, true, "-vvv"},
		{"replaced", func(p *place, path string) error { replace(p.t, path); return nil }, true, "dvvv"},
		{"truncated", func(_ *place, path string) error { return os.Truncate(path, 5) }, true, "dvvv"},
		{"touched", func(_ *place, path string) error { return os.Chtimes(path, time.Time{}, timeOf(1)) }, false, "dvvv"},
		{"written to", func(_ *place, path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("mine"), 0)
			return errors.Join(err, f.Close())
		}, false, "dvvv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !settles {
				t.Skip("files get their times from Publish")
			}
			p := newPlace(t, smallFiles(t))
			d := p.create()
			p.putAll(d)
			p.ok(test.do(p, p.path("a/x")))
			before, _ := os.Lstat(p.path("a/x"))
			err := d.Publish()
			var changed *store.ChangedError
			if test.fails != errors.As(err, &changed) || err != nil && changed == nil {
				t.Errorf("Publish: %v", err)
			}
			if before != nil {
				after, err := os.Lstat(p.path("a/x"))
				p.ok(err)
				if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
					t.Errorf("Publish has changed it from %v to %v", before.ModTime(), after.ModTime())
				}
			}
			p.ok(d.Close())
			p.want(p.open(), test.states)
		})
	}
}

// TestForgottenAfterSettle forgets a piece of settled files, and stores it again.
func TestForgottenAfterSettle(t *testing.T) {
	c := smallFiles(t)
	for i := range c.Manifest.Entries {
		if e := &c.Manifest.Entries[i]; e.Path == "a/x" {
			e.Mode = 0o440
		}
	}
	p := newPlace(t, c)
	d := p.create()
	p.put(d, 0, 1)
	p.ok(d.Forget(0))
	_, err := d.WriteAt(make([]byte, 10), 0)
	p.ok(err)
	p.put(d, 0, 2, 3)
	p.finish(d)
}

// TestOthersFilesAreNotSettled checks that a file that is older than the transfer keeps its time until Publish.
func TestOthersFilesAreNotSettled(t *testing.T) {
	p := newPlace(t, smallFiles(t))
	p.ok(os.Mkdir(p.root, 0o755))
	p.ok(os.WriteFile(p.path("c"), []byte("mine"), 0o600))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.put(d, 3)
	info, err := os.Stat(p.path("c"))
	p.ok(err)
	if info.Mode() != fs.FileMode(0o600) || info.ModTime().UnixNano() == storetest.MTime {
		t.Errorf("it has %v and %v before Publish", info.Mode(), info.ModTime())
	}
	p.put(d, 0, 1, 2)
	p.ok(d.Publish())
	p.Verify(t, p.root)
}
