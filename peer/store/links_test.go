package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// twins has two files that differ in one byte.
func twins(t *testing.T) *place {
	c := storetest.Make(t, 1, storetest.Dir("h"), storetest.File("h/a", 2*piece), storetest.File("h/b", 2*piece))
	copy(c.Data[2*piece:], c.Data[:2*piece])
	c.Data[3*piece+5] ^= 1
	c.Hash(t)
	return newPlace(t, c)
}

// fill rechecks what is unverified, and writes and finishes the rest.
func (p *place) fill(d *store.Disk) {
	p.t.Helper()
	p.recheck(d)
	p.putMissing(d)
	p.ok(d.Finish())
}

// TestHardLinks takes over files that have other names: inside the content, outside of it,
// and read-only ones.
func TestHardLinks(t *testing.T) {
	for name, mode := range map[string]os.FileMode{"writable": 0o644, "read-only": 0o444} {
		t.Run("inside "+name, func(t *testing.T) {
			p := twins(t)
			p.ok(os.MkdirAll(p.path("h"), 0o755))
			p.ok(os.WriteFile(p.path("h/a"), p.Data[:2*piece], 0o600))
			p.ok(os.Chmod(p.path("h/a"), mode))
			p.ok(os.Link(p.path("h/a"), p.path("h/b")))
			p.fill(p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files)))
			p.Verify(t, p.root)
		})
		t.Run("outside "+name, func(t *testing.T) {
			p := twins(t)
			old := bytes.Clone(p.Data[:2*piece])
			old[7] ^= 1
			outside := filepath.Join(t.TempDir(), "mine")
			p.ok(os.WriteFile(outside, old, 0o600))
			p.ok(os.Chmod(outside, mode))
			before, err := os.Stat(outside)
			p.ok(err)
			p.ok(os.MkdirAll(p.path("h"), 0o755))
			p.ok(os.Link(outside, p.path("h/a")))
			p.fill(p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files)))
			p.Verify(t, p.root)
			got, err := os.ReadFile(outside)
			p.ok(err)
			after, err := os.Stat(outside)
			p.ok(err)
			if !bytes.Equal(got, old) || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("the file outside has changed: %v of %v, it was %v of %v, same bytes: %v",
					after.Mode(), after.ModTime(), before.Mode(), before.ModTime(), bytes.Equal(got, old))
			}
		})
	}
}

// TestHardLinkOfGoodFile writes only the mode and the time, which the other
// name keeps too.
func TestHardLinkOfGoodFile(t *testing.T) {
	p := twins(t)
	p.Write(t, p.root)
	outside := filepath.Join(t.TempDir(), "mine")
	p.ok(os.Link(p.path("h/a"), outside))
	p.ok(os.Chmod(outside, 0o644))
	p.fill(p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files)))
	p.Verify(t, p.root)
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file outside: %v, %v", info.Mode(), err)
	}
}

// TestHardLinkMeanwhile links files between two writes, while they are closed, as a backup
// does.
func TestHardLinkMeanwhile(t *testing.T) {
	p := twins(t)
	p.files = store.NewFiles(1)
	d := p.create()
	p.put(d, 0, 2) // closes h/a
	outside := filepath.Join(t.TempDir(), "backup")
	p.ok(os.Link(p.path("h/a"), outside))
	before, err := os.ReadFile(outside)
	p.ok(err)
	p.put(d, 1, 3)
	p.ok(d.Finish())
	p.Verify(t, p.root)
	if after, err := os.ReadFile(outside); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the backup has changed, %v", err)
	}
}

// TestCopyLeftByCrash removes the copy of a file with other names that a crash left.
func TestCopyLeftByCrash(t *testing.T) {
	p := twins(t)
	p.ok(os.MkdirAll(p.path("h"), 0o755))
	p.ok(os.WriteFile(p.path("h/a"), make([]byte, 2*piece), 0o600))
	p.ok(os.Link(p.path("h/a"), p.path("h/b")))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.recheck(d)
	temp := d.TempName("h/a")
	p.ok(os.WriteFile(p.path(temp), []byte("half a co"), 0o400))
	p.putMissing(d)
	p.ok(d.Finish())
	p.gone(p.path(temp))
	p.Verify(t, p.root)

	// It is removed with the rest, too. The first copy changed the links of the other file.
	p.ok(d.Close())
	d = p.open()
	p.recheck(d)
	p.ok(d.Close())
	p.ok(os.WriteFile(p.path(temp), []byte("half a co"), 0o400))
	p.remove("h/a: not created by this transfer", "h/b: not created by this transfer", "h: not empty")
	p.gone(p.path(temp))
}

// TestCopyBesideFileLeftByCrash removes content that is a single file. A crash left a copy beside it.
func TestCopyBesideFileLeftByCrash(t *testing.T) {
	p := newPlace(t, single(t))
	d := p.fetched()
	temp := filepath.Join(filepath.Dir(p.root), d.TempName(filepath.Base(p.root)))
	p.ok(d.Close())
	p.ok(os.WriteFile(temp, []byte("half a co"), 0o400))
	p.remove()
	p.gone(p.root)
	p.gone(temp)
}

// TestManyLinks separates many names of one file at a time.
func TestManyLinks(t *testing.T) {
	entries := []proto.Entry{storetest.Dir("d")}
	for i := range 40 {
		entries = append(entries, storetest.File("d/"+strconv.Itoa(i), piece))
	}
	c := storetest.Make(t, 4, entries...)
	p := newPlace(t, c)
	p.ok(os.MkdirAll(p.path("d"), 0o755))
	first := p.path(c.Manifest.Entries[1].Path)
	p.ok(os.WriteFile(first, make([]byte, piece), 0o600))
	for _, e := range c.Manifest.Entries[2:] {
		p.ok(os.Link(first, p.path(e.Path)))
	}
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.recheck(d)
	done := make(chan error)
	for i := range c.Manifest.Pieces() {
		go func() {
			_, err := d.WriteAt(p.Piece(i), c.Manifest.PieceOffset(i))
			if err == nil {
				err = d.Commit(i)
			}
			done <- err
		}()
	}
	for range c.Manifest.Pieces() {
		p.ok(<-done)
	}
	p.ok(d.Finish())
	p.Verify(t, p.root)
}
