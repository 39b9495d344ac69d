package store_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// disk is a transfer on a file system that fails.
type disk struct {
	storetest.Content
	t     *testing.T
	fs    *faultFS
	files *store.Files
	all   *proto.Manifest // without left-out files
	boot  journal.BootID
	open  *store.Disk // to be closed when the process ends
}

const faultDir, faultRoot, faultOutside = "/state/t", "/home/content", "/home/mine"

// kind is the initial state of a faulty disk.
type kind struct {
	links bool // files of the content are other names of the user's file
	more  int  // files besides; with many, the whole file system is flushed
	part  bool // a file and a directory are left out
}

// faulty returns a disk with content of small pieces. Beside it is a file of the user's.
func faulty(t *testing.T, k kind) *disk {
	const piece = proto.MinPieceLength
	entries := []proto.Entry{
		storetest.Dir("a"), storetest.File("a/x", 2*piece+9), storetest.File("b", 100),
		storetest.File("c", 2*piece), storetest.File("e", 0), storetest.Link("l", "c"),
	}
	for i := range k.more {
		entries = append(entries, storetest.File("more"+strconv.Itoa(i), 1000))
	}
	if k.part {
		entries = append(entries, storetest.File("bb", 4*piece), storetest.Dir("d"), storetest.File("d/x", 9))
	}
	c := storetest.Make(t, 7, entries...)
	c.Manifest.PieceLength = piece
	c.Manifest.Entries[0].Mode, c.Manifest.Entries[1].Mode = 0o555, 0o444
	c.Hash(t)
	all := c.Manifest
	if k.part {
		c.Manifest = c.Manifest.Partial(func(i int) bool {
			name := c.Manifest.Entries[i].Path
			return name == "bb" || name[0] == 'd'
		})
	}
	f := newFaultFS()
	p := &disk{Content: c, all: all, t: t, fs: f, files: store.NewFilesOn(f, 2), boot: journal.CurrentBoot()}
	p.ok(f.MkdirAll(faultDir, 0o700)) // as a node does, and flushes it
	p.ok(f.MkdirAll("/home", 0o755))
	p.writeFile(faultOutside, p.outside(), 0o444)
	if k.links {
		p.ok(f.MkdirAll(faultRoot+"/a", 0o755))
		p.ok(f.Link(faultOutside, faultRoot+"/a/x"))
		p.ok(f.Link(faultOutside, faultRoot+"/c"))
	}
	p.syncAll()
	return p
}

// outside returns the bytes of the user's file: the first piece of a/x, and no more of the content.
func (p *disk) outside() []byte {
	b := make([]byte, 2*proto.MinPieceLength+9)
	copy(b, p.Data[:proto.MinPieceLength])
	return b
}

func (p *disk) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *disk) writeFile(name string, data []byte, mode fs.FileMode) {
	p.t.Helper()
	f, err := p.fs.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	p.ok(err)
	_, err = f.WriteAt(data, 0)
	p.ok(err)
	p.ok(f.Chmod(mode))
	p.ok(f.Close())
}

func (p *disk) syncAll() {
	p.t.Helper()
	f, err := p.fs.OpenFile("/", os.O_RDONLY, 0)
	p.ok(err)
	_, err = f.SyncFS()
	p.ok(err)
}

// start opens the store as a node does.
func (p *disk) start() (err error) {
	p.open, err = store.OpenAfterBoot(faultDir, faultRoot, p.Manifest, p.files, p.boot)
	if errors.Is(err, store.ErrNoJournal) {
		p.open, err = store.Adopt(faultDir, faultRoot, p.Manifest, p.files)
	}
	if err != nil {
		p.open = nil
		return err
	}
	p.open.FlushEvery(2 * proto.MinPieceLength)
	return store.Reaudit(p.t.Context(), p.open, store.NewVerifier(p.Manifest), p.open.Unverified(), nil)
}

// end closes the store.
func (p *disk) end() error {
	if p.open == nil {
		return nil
	}
	d := p.open
	p.open = nil
	return d.Close()
}

// put writes up to n missing pieces.
func (p *disk) put(n int) error {
	d := p.open
	for i := range p.Manifest.Pieces() {
		if d.Has(i) || d.LeavesOut(i) || n == 0 {
			continue
		}
		n--
		if _, err := d.WriteAt(p.Piece(i), p.Manifest.PieceOffset(i)); err != nil {
			return err
		}
		err := d.Commit(i)
		d.WaitFlush()
		if err != nil {
			return err
		}
	}
	return nil
}

// life is a whole transfer with two restarts. It ends at the first error. It reports whether
// Finish has returned without one.
func (p *disk) life(when string) (finished bool, err error) {
	steps := []func() error{
		p.start,
		func() error { return p.put(2) },
		func() error { return p.open.Forget(0) },
		func() error { return p.put(1) },
		p.end, p.start,
		func() error { return p.put(99) },
		func() error { return p.open.Publish() },
		func() error {
			err := p.open.Finish()
			finished = err == nil
			return err
		},
		p.end, p.start, p.end,
	}
	for _, step := range steps {
		was, lost := finished, p.fs.LostFlushes()
		if err = step(); err != nil {
			p.finishAgain(when, finished)
			return finished, err
		}
		if finished && !was && lost > 0 {
			p.t.Errorf("%s: finished after a flush that failed", when)
		}
	}
	return finished, nil
}

// fetch is life without a fault.
func (p *disk) fetch() {
	p.t.Helper()
	if finished, err := p.life(""); !finished || err != nil {
		p.t.Fatal(err)
	}
}

// finishAgain checks that a store with a failed flush is not finished later.
func (p *disk) finishAgain(when string, finished bool) {
	if p.open == nil || finished || p.fs.LostFlushes() == 0 {
		return
	}
	if err := p.put(99); err == nil && p.open.Finish() == nil {
		p.t.Errorf("%s: finished after a flush has failed", when)
	}
}

// complete reports whether the open store has all pieces that it should.
func (p *disk) complete() bool {
	for i := range p.Manifest.Pieces() {
		if p.open.Has(i) == p.open.LeavesOut(i) {
			return false
		}
	}
	return true
}

// check checks what must hold whenever the store is open and hashed.
func (p *disk) check(when string) {
	p.t.Helper()
	for i := range p.Manifest.Pieces() {
		if !p.open.Has(i) {
			continue
		}
		if good, err := store.NewVerifier(p.Manifest).Check(p.open, i); !good || err != nil {
			p.t.Errorf("%s: has piece %d, which is %v, %v", when, i, good, err)
		}
	}
	p.checkOutside(when)
}

func (p *disk) checkOutside(when string) {
	p.t.Helper()
	if got := p.readFile(faultOutside); !bytes.Equal(got, p.outside()) {
		p.t.Errorf("%s: the file outside was written to", when)
	}
	if info, err := p.fs.Lstat(faultOutside); err != nil || info.Mode().Perm() != 0o444 {
		p.t.Errorf("%s: the file outside has mode %v, %v", when, info.Mode(), err)
	}
}

func (p *disk) readFile(name string) []byte {
	p.t.Helper()
	f, err := p.fs.OpenFile(name, os.O_RDONLY, 0)
	p.ok(err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
	p.ok(err)
	p.ok(f.Close())
	return b
}

// verify checks that the destination has exactly the content.
func (p *disk) verify(when string) {
	p.t.Helper()
	rest, names := p.Data, 0
	for _, e := range p.Manifest.Entries {
		if e.Kind == proto.Pad {
			rest = rest[e.Size:]
			continue
		}
		if path.Dir(e.Path) == "." {
			names++
		}
		name := path.Join(faultRoot, e.Path)
		info, err := p.fs.Lstat(name)
		if err != nil {
			p.t.Errorf("%s: %v", when, err)
			continue
		}
		if e.Kind == proto.File && !bytes.Equal(p.readFile(name), rest[:e.Size]) {
			p.t.Errorf("%s: %s differs", when, e.Path)
		}
		if e.Kind != proto.Symlink && (info.Mode().Perm() != fs.FileMode(e.Mode) || info.ModTime().UnixNano() != e.MTime) {
			p.t.Errorf("%s: %s is %v of %v", when, e.Path, info.Mode(), info.ModTime())
		}
		rest = rest[e.Size:]
	}
	for dir, want := range map[string]int{faultRoot: names, faultRoot + "/a": 1, "/home": 2} {
		f, err := p.fs.OpenFile(dir, os.O_RDONLY, 0)
		p.ok(err)
		if names, err := f.Readdirnames(-1); err != nil || len(names) != want {
			p.t.Errorf("%s: %s has %q, %v", when, dir, names, err)
		}
		p.ok(f.Close())
	}
	p.checkOutside(when)
}
