package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// flip flips a bit of a file and puts its times back.
func (p *place) flip(path string, at int64) {
	p.t.Helper()
	info, err := os.Stat(path)
	p.ok(err)
	p.ok(os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	p.ok(err)
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	p.ok(err)
	b[0] ^= 1
	_, err = f.WriteAt(b[:], at)
	p.ok(err)
	p.ok(f.Close())
	p.ok(os.Chtimes(path, time.Time{}, info.ModTime()))
	p.ok(os.Chmod(path, info.Mode().Perm()))
}

// TestEditedBetweenSittings edits files in place and puts their times back.
func TestEditedBetweenSittings(t *testing.T) {
	for name, whole := range map[string]bool{"part": false, "whole": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			d := p.create()
			p.put(d, 0, 1, 2, 3)
			if whole {
				p.put(d, 4)
				p.ok(d.Finish())
			}
			p.ok(d.Close())
			p.flip(p.path("a/x"), piece+9)
			d = p.open()
			p.recheck(d)
			p.recheckAll(d, p.has(d))
			p.fill(d)
			p.Verify(t, p.root)
		})
	}
}

// TestEditedDuringAudit edits a file after its pieces were found to be good, and kills the
// process.
func TestEditedDuringAudit(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.create()
	p.put(d, 0, 1, 2, 3)
	p.ok(d.Close())
	p.ok(os.Chtimes(p.path("a/x"), timeOf(1), timeOf(1)))
	d = p.open()
	p.want(d, "ddvv-")
	p.recheck(d)
	p.want(d, "vvvv-")
	p.flip(p.path("a/x"), 5)
	p.ok(d.Close())
	p.want(p.open(), "ddvv-")
}

// TestOldJournal opens the journal of a version without stamps and created files.
func TestOldJournal(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.fetched()
	p.ok(d.Close())
	p.makeOld()
	d = p.open()
	p.want(d, "ddddd")
	p.recheck(d)
	p.ok(d.Close())
	p.want(p.open(), "vvvvv")
}

// TestOldJournalOfPart resumes a transfer with such a journal. Files of the earlier version are not removed.
func TestOldJournalOfPart(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.create()
	p.put(d, 0, 3)
	p.ok(d.Close())
	p.makeOld()
	p.fill(p.open())
	p.Verify(t, p.root)
	if _, err := store.Remove(p.dir, p.root, p.Manifest, p.files); err != nil {
		t.Error(err)
	}
	p.exists("a/x")
	p.gone(p.path("b"))
}

// TestRepair damages a whole content of read-only files in every way, and makes it whole
// again where it is.
func TestRepair(t *testing.T) {
	for name, do := range map[string]func(p *place) error{
		"flipped":   func(p *place) error { p.flip(p.path("a/x"), 3); return nil },
		"truncated": func(p *place) error { return os.Truncate(p.path("a/x"), 9) },
		"extended":  func(p *place) error { return os.Truncate(p.path("a/x"), 9*piece) },
		"removed":   func(p *place) error { return os.Remove(p.path("a/x")) },
		"directory removed": func(p *place) error {
			return errors.Join(os.Chmod(p.path("a"), 0o755), os.RemoveAll(p.path("a")))
		},
		"empty file removed": func(p *place) error { return os.Remove(p.path("e")) },
		"link removed":       func(p *place) error { return os.Remove(p.path("l")) },
		"linked": func(p *place) error {
			p.flip(p.path("a/x"), 3)
			return os.Link(p.path("a/x"), p.root+"-outside")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := storetest.Make(t, 2, storetest.Dir("a"), storetest.File("a/x", 2*piece), storetest.File("b", piece/2),
				storetest.File("c", 2*piece), storetest.File("e", 0), storetest.Link("l", "c"))
			c.Manifest.Entries[0].Mode, c.Manifest.Entries[1].Mode = 0o555, 0o444
			p := newPlace(t, c)
			t.Cleanup(func() { _ = os.Chmod(p.path("a"), 0o755) })
			d := p.fetched()
			p.ok(d.Close())
			p.ok(do(p))
			d = p.open()
			p.fill(d)
			if _, err := d.WriteAt(p.Piece(0), 0); !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("write to what is whole again: %v", err)
			}
			p.Verify(t, p.root)
			p.ok(d.Close())
			p.want(p.open(), "vvvvv")
		})
	}
}

// TestRepairWhileServed forgets a piece of content that is being read.
func TestRepairWhileServed(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.fetched()
	p.flip(p.path("a/x"), 3)
	all := p.has(d)
	if err := store.Reaudit(t.Context(), d, store.NewVerifier(p.Manifest), all, nil); err != nil {
		t.Fatal(err)
	}
	p.want(d, "-vvvv")
	p.put(d, 0)
	p.ok(d.Publish())
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

// TestSeedIsNotRepaired checks that nothing is written to what is seeded in place.
func TestSeedIsNotRepaired(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	d := p.got(p.seed())
	p.flip(p.path("a/x"), 3)
	p.ok(store.Reaudit(t.Context(), d, store.NewVerifier(p.Manifest), p.has(d), nil))
	p.want(d, "-vvvv")
	if _, err := d.WriteAt(p.Piece(0), 0); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write to a seed: %v", err)
	}
	p.ok(d.Close())
	p.want(p.open(), "-dvvv")
}

// TestNotMounted opens content whose file system is not mounted: its directory is not
// there, or has nothing in it. Nothing changes, and all is there when it is mounted.
func TestNotMounted(t *testing.T) {
	for name, whole := range map[string]bool{"part": false, "whole": true} {
		for name2, empty := range map[string]bool{"missing": false, "empty": true} {
			t.Run(name+" "+name2, func(t *testing.T) {
				p := newPlace(t, tree(t))
				d := p.create()
				p.put(d, 0, 1, 2, 3)
				want := "vvvv-"
				if whole {
					p.put(d, 4)
					p.ok(d.Finish())
					want = "vvvvv"
				}
				p.ok(d.Close())
				before, err := os.ReadFile(p.dir + "/journal")
				p.ok(err)
				away := p.root + "-unmounted"
				p.ok(os.Rename(p.root, away))
				if empty {
					p.ok(os.Mkdir(p.root, 0o755))
				}
				for range 2 {
					if _, err := store.Open(p.dir, p.root, p.Manifest, p.files); !errors.Is(err, store.ErrGone) {
						t.Errorf("open: %v", err)
					}
				}
				after, err := os.ReadFile(p.dir + "/journal")
				p.ok(err)
				if string(after) != string(before) {
					t.Error("the journal has changed")
				}
				if empty {
					p.ok(os.Remove(p.root))
				}
				p.gone(p.root)
				p.ok(os.Rename(away, p.root))
				d = p.open()
				p.want(d, want)
				p.fill(d)
				p.Verify(t, p.root)
			})
		}
	}
}

// TestFileAwayForAWhile takes a file away and puts it back: while the content is not in use,
// and while it is.
func TestFileAwayForAWhile(t *testing.T) {
	p := newPlace(t, tree(t))
	p.files = store.NewFiles(1)
	d := p.fetched()
	p.ok(d.Close())
	away := p.root + "-away"
	rename := func(from, to string) { p.t.Helper(); p.ok(os.Rename(from, to)) }
	// A rename changes the file, a mount does not.
	rename(p.path("a"), away)
	d = p.open()
	p.want(d, "--vvv")
	p.ok(d.Close())
	rename(away, p.path("a"))
	d = p.open()
	p.want(d, "vvvvv")

	_, err := d.ReadAt(make([]byte, 1), 3*piece) // closes a/x
	p.ok(err)
	rename(p.path("a"), away)
	p.ok(store.Reaudit(t.Context(), d, store.NewVerifier(p.Manifest), p.has(d), nil))
	p.want(d, "--vvv")
	p.ok(d.Close())
	rename(away, p.path("a"))
	p.want(p.open(), "vvvvv")
}

// TestRepairOfChangedFile fetches a piece of a file again that was edited at another place. The file counts as changed until
// all of it was hashed, also if it has another name: then the piece is written to a copy.
func TestRepairOfChangedFile(t *testing.T) {
	for _, linked := range []bool{false, true} {
		t.Run(fmt.Sprint("linked ", linked), func(t *testing.T) {
			p := newPlace(t, tree(t))
			d := p.fetched()
			p.flip(p.path("a/x"), piece+3)
			if linked {
				p.ok(os.Link(p.path("a/x"), p.root+"-backup"))
			}
			repair := func(i int) {
				p.t.Helper()
				p.ok(d.Forget(i))
				p.put(d, i)
				p.ok(d.Publish())
			}
			wantChanged := func(when string) {
				p.t.Helper()
				if got := p.look(d); !slices.Equal(got, []string{"a/x: changed"}) {
					t.Errorf("%s: differences are %q, want that a/x changed", when, got)
				}
			}
			audit := func() {
				p.t.Helper()
				changed, good := d.Changed(), make([]bool, p.Manifest.Pieces())
				p.ok(store.Reaudit(t.Context(), d, store.NewVerifier(p.Manifest), d.Foreign(), func(i int, v store.Verdict) {
					good[i] = v == store.Good
				}))
				p.ok(d.Accept(changed, good))
			}
			repair(0)
			wantChanged("one piece fetched again")
			audit()
			p.want(d, "v-vvv")
			wantChanged("hashed")
			repair(1)
			wantChanged("both pieces fetched again")
			audit()
			if got := p.look(d); len(got) > 0 {
				t.Errorf("differences are %q, want none", got)
			}
			p.ok(d.Finish())
			p.ok(d.Close())
			p.want(p.open(), "vvvvv")
		})
	}
}

// TestAcceptOnlyReadPieces accepts the stamp of an edited file after an audit that did not find all of its pieces good. The
// store may have them all nevertheless: a peer's check committed one that it had read before the edit.
func TestAcceptOnlyReadPieces(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.fetched()
	p.flip(p.path("a/x"), piece+3)
	good := p.has(d)
	good[1] = false
	p.ok(d.Accept(d.Changed(), good))
	if got := p.look(d); !slices.Equal(got, []string{"a/x: changed"}) {
		t.Errorf("differences are %q, want that a/x changed", got)
	}
}

// TestLateWrite writes a duplicate of a piece that ends after the content was published, and edits the file. A look and
// a restart notice the edit.
func TestLateWrite(t *testing.T) {
	p := newPlace(t, tree(t))
	late := &lateFS{FS: vfs.OS{}, start: make(chan struct{}), end: make(chan struct{})}
	p.files = store.NewFilesOn(late, 0)
	d := p.create()
	p.put(d, 1, 2, 3, 4)
	late.on.Store(true)
	written := make(chan error)
	go func() {
		_, err := d.WriteAt(p.Piece(0), 0)
		written <- err
	}()
	<-late.start
	p.put(d, 0)
	p.ok(d.Finish())
	close(late.end)
	p.ok(<-written)
	p.flip(p.path("a/x"), 3)
	if got := p.look(d); !slices.Equal(got, []string{"a/x: changed"}) {
		t.Errorf("differences are %q, want that a/x changed", got)
	}
	p.ok(d.Close())
	p.want(p.open(), "ddvvv")
}

// lateFS has one write wait.
type lateFS struct {
	vfs.FS
	on         atomic.Bool
	start, end chan struct{}
}

func (f *lateFS) OpenRoot(path string) (vfs.Root, error) {
	r, err := f.FS.OpenRoot(path)
	return lateRoot{r, f}, err
}

type lateRoot struct {
	vfs.Root
	fs *lateFS
}

func (r lateRoot) OpenRoot(name string) (vfs.Root, error) {
	in, err := r.Root.OpenRoot(name)
	return lateRoot{in, r.fs}, err
}

func (r lateRoot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := r.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return lateFile{f, r.fs}, nil
}

type lateFile struct {
	vfs.File
	fs *lateFS
}

func (f lateFile) WriteAt(p []byte, offset int64) (int, error) {
	if f.fs.on.Swap(false) {
		close(f.fs.start)
		<-f.fs.end
	}
	return f.File.WriteAt(p, offset)
}

// TestEditWithinTick edits files as soon as they were published, opened again and compared for an audit, on a file system whose
// clock ticks every 9 ms. Each edit shows.
func TestEditWithinTick(t *testing.T) {
	p := newPlace(t, tree(t))
	p.files = store.NewFilesOn(coarseFS{vfs.OS{}}, 0)
	d := p.create()
	p.putAll(d)
	wantChanged := func(when string) {
		p.t.Helper()
		p.flip(p.path("a/x"), 3)
		p.flip(p.path("a/x"), 3) // the bytes are right again
		if got := p.look(d); !slices.Equal(got, []string{"a/x: changed"}) {
			t.Errorf("%s: differences are %q, want that a/x changed", when, got)
		}
	}
	p.ok(d.Publish())
	wantChanged("published")
	p.ok(d.Finish())
	p.ok(d.Accept(d.Changed(), p.has(d)))
	wantChanged("accepted")
	p.ok(d.Close())
	d = p.open()
	p.recheck(d)
	wantChanged("opened again")
}

// coarseFS rounds the times of changes.
type coarseFS struct{ vfs.FS }

func (f coarseFS) OpenRoot(path string) (vfs.Root, error) {
	r, err := f.FS.OpenRoot(path)
	return coarseRoot{r}, err
}

type coarseRoot struct{ vfs.Root }

func (r coarseRoot) OpenRoot(name string) (vfs.Root, error) {
	in, err := r.Root.OpenRoot(name)
	return coarseRoot{in}, err
}

func (r coarseRoot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := r.Root.OpenFile(name, flag, perm)
	return coarseFile{f}, err
}

func (coarseRoot) FineTime(int64) bool { return false }

func (r coarseRoot) Lstat(name string) (fs.FileInfo, error) { return coarse(r.Root.Lstat(name)) }

func (r coarseRoot) LstatAll(names []string) []fs.FileInfo {
	infos := r.Root.LstatAll(names)
	for i, info := range infos {
		if info != nil {
			infos[i] = coarseInfo{info}
		}
	}
	return infos
}

type coarseFile struct{ vfs.File }

func (f coarseFile) Stat() (fs.FileInfo, error) { return coarse(f.File.Stat()) }

func coarse(info fs.FileInfo, err error) (fs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return coarseInfo{info}, nil
}

type coarseInfo struct{ fs.FileInfo }

func (i coarseInfo) Sys() any {
	s := vfs.StatOf(i.FileInfo)
	s.Changed -= s.Changed % int64(9*time.Millisecond)
	return s
}
