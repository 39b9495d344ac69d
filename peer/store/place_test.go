package store_test

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// place is the state directory and destination of one transfer.
type place struct {
	storetest.Content
	t         testing.TB
	dir, root string
	files     *store.Files
}

func newPlace(t *testing.T, c storetest.Content) *place {
	return &place{c, t, t.TempDir(), filepath.Join(t.TempDir(), "content"), store.NewFiles(16)}
}

// got returns d, which the test's cleanup closes, unless there is an error.
func (p *place) got(d *store.Disk, err error) *store.Disk {
	p.t.Helper()
	p.ok(err)
	p.t.Cleanup(func() { p.ok(d.Close()) })
	return d
}

func (p *place) create() *store.Disk {
	p.t.Helper()
	return p.got(store.Create(p.dir, p.root, p.Manifest, p.files))
}

// fetched returns a new store that is finished.
func (p *place) fetched() *store.Disk {
	p.t.Helper()
	d := p.create()
	p.putAll(d)
	p.ok(d.Finish())
	return d
}

func (p *place) open() *store.Disk {
	p.t.Helper()
	return p.got(store.Open(p.dir, p.root, p.Manifest, p.files))
}

func (p *place) seed() (*store.Disk, error) {
	return store.Seed(p.dir, p.root, p.Manifest, p.files)
}

// put writes and commits pieces.
func (p *place) put(d store.Store, pieces ...int) {
	p.t.Helper()
	for _, i := range pieces {
		_, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i))
		p.ok(err)
		p.ok(d.Commit(i))
	}
}

func (p *place) putAll(d store.Store) {
	p.t.Helper()
	p.put(d, rand.Perm(p.Manifest.Pieces())...)
}

// want checks the states of the pieces: v verified, d unverified, - missing, and ! if a
// verified piece is also unverified.
func (p *place) want(d *store.Disk, states string) {
	p.t.Helper()
	unverified := d.Unverified()
	got := make([]byte, len(unverified))
	for i := range got {
		switch {
		case d.Has(i) && unverified[i]:
			got[i] = '!'
		case d.Has(i):
			got[i] = 'v'
		case unverified[i]:
			got[i] = 'd'
		default:
			got[i] = '-'
		}
	}
	if string(got) != states {
		p.t.Errorf("pieces are %s, want %s", got, states)
	}
}

// recheck rechecks the unverified pieces.
func (p *place) recheck(d *store.Disk) {
	p.t.Helper()
	p.ok(store.Reaudit(p.t.Context(), d, store.NewVerifier(p.Manifest), d.Unverified(), nil))
}

// recheckAll rechecks pieces that must be good.
func (p *place) recheckAll(d *store.Disk, check []bool) {
	p.t.Helper()
	p.ok(store.Reaudit(p.t.Context(), d, store.NewVerifier(p.Manifest), check, func(i int, v store.Verdict) {
		if v != store.Good {
			p.t.Errorf("piece %d is not good", i)
		}
	}))
}

// has reports for each piece whether d has it.
func (p *place) has(d *store.Disk) []bool {
	has := make([]bool, p.Manifest.Pieces())
	for i := range has {
		has[i] = d.Has(i)
	}
	return has
}

func (p *place) path(name string) string { return filepath.Join(p.root, name) }

func (p *place) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) gone(path string) {
	p.t.Helper()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		p.t.Errorf("%s: %v, want it not to exist", path, err)
	}
}

// makeOld replaces the journal by one that an earlier version would have written.
func (p *place) makeOld() {
	p.t.Helper()
	path := filepath.Join(p.dir, "journal")
	b, err := os.ReadFile(path)
	p.ok(err)
	const header, record, sum = 64, 32, 28
	set := func(r []byte, sum int) {
		binary.LittleEndian.PutUint32(r[sum:], crc32.Checksum(r[:sum], crc32.MakeTable(crc32.Castagnoli)))
	}
	b[8] = 1
	set(b[:header], header-4)
	for at := header; at < len(b); at += record {
		r := b[at : at+record]
		switch r[0] {
		case 5:
			if r[1] == 1 {
				r[0] = 8 // complete
			}
		case 11:
			entry, file := binary.LittleEndian.Uint32(r[4:]), uint32(0)
			for _, e := range p.Manifest.Entries[:entry] {
				if e.Size > 0 {
					file++
				}
			}
			r[0] = 7
			if int(entry) < len(p.Manifest.Entries) && p.Manifest.Entries[entry].Size > 0 {
				r[0] = 6
			}
			binary.LittleEndian.PutUint32(r[4:], file)
			copy(r[8:16], r[16:24]) // the inode number, and not whether the transfer created it
			clear(r[16:24])
		}
		r[1] = 0
		set(r, sum)
	}
	p.ok(os.WriteFile(path, b, 0o600))
}

// Write writes the content to root without a store.
func (p *place) Write(t testing.TB, root string) {
	t.Helper()
	if len(p.Manifest.Entries) != 1 || p.Manifest.Entries[0].Path != "" {
		p.ok(os.Mkdir(root, 0o755))
	}
	rest := p.Data
	for _, e := range p.Manifest.Entries {
		path := filepath.Join(root, e.Path)
		switch e.Kind {
		case proto.Dir:
			p.ok(os.Mkdir(path, 0o700))
		case proto.Symlink:
			p.ok(os.Symlink(e.Target, path))
		case proto.File:
			p.ok(os.WriteFile(path, rest[:e.Size], 0o600))
			p.ok(os.Chmod(path, os.FileMode(e.Mode)))
			p.setTime(path, e)
		}
		rest = rest[e.Size:]
	}
	for i := len(p.Manifest.Entries) - 1; i >= 0; i-- {
		if e := p.Manifest.Entries[i]; e.Kind == proto.Dir {
			path := filepath.Join(root, e.Path)
			p.setTime(path, e)
			p.ok(os.Chmod(path, os.FileMode(e.Mode)))
		}
	}
}

func (p *place) setTime(path string, e proto.Entry) {
	if e.MTime != proto.NoMTime {
		p.ok(os.Chtimes(path, time.Time{}, time.Unix(0, e.MTime)))
	}
}

// Verify checks that root is the content and nothing else.
func (p *place) Verify(t testing.TB, root string) {
	t.Helper()
	rest := p.Data
	for _, e := range p.Manifest.Entries {
		if e.Kind == proto.Pad {
			rest = rest[e.Size:]
			continue
		}
		path := filepath.Join(root, e.Path)
		info, err := os.Lstat(path)
		p.ok(err)
		if e.Kind == proto.Symlink {
			if target, err := os.Readlink(path); err != nil || target != e.Target {
				t.Errorf("%s leads to %q, %v; want %q", path, target, err, e.Target)
			}
			continue
		}
		mtime := info.ModTime().UnixNano()
		if e.Kind == proto.Dir != info.IsDir() || uint32(info.Mode().Perm()) != e.Mode ||
			e.MTime != proto.NoMTime && mtime != e.MTime {
			t.Errorf("%s is %v of %d, want kind %d mode %#o of %d", path, info.Mode(), mtime, e.Kind, e.Mode, e.MTime)
		}
		if e.Kind == proto.File {
			got, err := os.ReadFile(path)
			p.ok(err)
			if string(got) != string(rest[:e.Size]) {
				t.Errorf("%s differs in %d bytes, want %d", path, len(got), e.Size)
			}
			rest = rest[e.Size:]
		}
	}
	p.verifyCount(t, root)
}

func (p *place) verifyCount(t testing.TB, root string) {
	t.Helper()
	count := 0
	p.ok(filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if path != root {
			count++
		}
		return err
	}))
	want := 0
	for _, e := range p.Manifest.Entries {
		if e.Path != "" {
			want++
		}
	}
	if count != want {
		t.Errorf("%d files and directories, want %d", count, want)
	}
}
