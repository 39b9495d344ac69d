package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// fault is a failure of one call, and its consequence.
type fault struct {
	name  string
	plan  faultPlan
	after func(p *disk, random *rand.Rand) // nil is a restart of the process
}

func powerLoss(p *disk, _ *rand.Rand)          { p.reboot(nil) }
func tornPowerLoss(p *disk, random *rand.Rand) { p.reboot(random) }

func (p *disk) reboot(keep *rand.Rand) {
	p.fs.PowerLoss(keep)
	p.boot[0]++
}

// everyFault are all faults, each with what may follow.
func everyFault() (all []fault) {
	for name, plan := range map[string]faultPlan{
		"EIO":                {Times: 1, Err: syscall.EIO},
		"EIO done":           {Times: 1, Err: syscall.EIO, Done: true},
		"ENOSPC":             {Times: 4, Err: syscall.ENOSPC},
		"ESTALE":             {Times: 9, Err: syscall.ESTALE},
		"killed before":      {Times: 1, Err: syscall.EIO, Off: true},
		"killed after":       {Times: 1, Err: syscall.EIO, Off: true, Done: true},
		"EIO of all flushes": {Times: 1 << 30, Err: syscall.EIO, Only: func(call, _ string) bool { return call == "sync" || call == "syncfs" }},
	} {
		all = append(all, fault{name, plan, nil}, fault{name + ", power loss", plan, powerLoss},
			fault{name + ", torn power loss", plan, tornPowerLoss})
	}
	return all
}

// TestEveryFault injects each fault at calls of a complete transfer, then resumes the transfer
// without faults. Each run takes other calls, and many runs take all.
func TestEveryFault(t *testing.T) {
	for name, k := range map[string]kind{"new": {}, "links": {links: true}, "many": {more: 2 * 64}, "partial": {part: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := faulty(t, k)
			p.fs.SetPlan(&faultPlan{})
			p.fetch()
			calls := p.fs.Calls()
			p.fs.SetPlan(nil)
			p.verify("without a fault")
			step := 13
			if testing.Short() {
				step = 61
			}
			step *= 1 + k.more/8
			random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			t.Logf("%d calls", calls)
			for _, f := range everyFault() {
				for at := random.IntN(step); at < calls; at += step {
					strike(t, f, at, k, random)
					if t.Failed() {
						return
					}
				}
			}
		})
	}
}

// strike has a fault strike at one call.
func strike(t *testing.T, f fault, at int, k kind, random *rand.Rand) {
	t.Helper()
	p := faulty(t, k)
	plan := f.plan
	plan.At = at
	p.fs.SetPlan(&plan)
	when := fmt.Sprintf("%s at call %d", f.name, at)
	finished, err := p.life(when)
	_ = p.end() // has told what it had to
	when = fmt.Sprintf("%s (%v)", when, err)
	p.fs.SetPlan(nil)
	if f.after != nil {
		f.after(p, random)
	}
	if err := p.start(); err != nil {
		t.Errorf("%s: open: %v", when, err)
		return
	}
	p.check(when)
	if finished && !p.complete() {
		t.Errorf("%s: finished, but only %d pieces are there", when, p.open.Count())
	}
	for _, step := range []func() error{
		func() error { return p.put(99) }, p.open.Publish, p.open.Finish, p.end,
	} {
		if err := step(); err != nil {
			t.Errorf("%s: then: %v", when, err)
			return
		}
	}
	p.reboot(nil)
	p.verify(when)
	if err := p.start(); err != nil || !p.complete() {
		t.Errorf("%s: whole, but %d pieces are there, %v", when, p.open.Count(), err)
		return
	}
	p.check(when)
	_ = p.end() // a store that was only read
	if k.part {
		p.addRest(when)
	}
}

// addRest fetches the files that were left out, too.
func (p *disk) addRest(when string) {
	p.t.Helper()
	p.Manifest = p.all
	for _, step := range []func() error{
		p.start, func() error { return p.put(99) }, func() error { return p.open.Publish() }, func() error { return p.open.Finish() }, p.end,
	} {
		if err := step(); err != nil {
			p.t.Errorf("%s: the remaining files: %v", when, err)
			return
		}
	}
	p.verify(when)
}

// TestEveryFaultOfRemove injects each fault at each call of a removal, then repeats it.
func TestEveryFaultOfRemove(t *testing.T) {
	t.Parallel()
	begin := func() *disk {
		p := faulty(t, kind{})
		p.fetch()
		p.writeFile(faultRoot+"/mine", []byte("mine"), 0o600)
		p.syncAll()
		return p
	}
	remove := func(p *disk) ([]store.Left, error) {
		return store.Remove(faultDir, faultRoot, p.Manifest, p.files)
	}
	p := begin()
	p.fs.SetPlan(&faultPlan{})
	if _, err := remove(p); err != nil {
		t.Fatal(err)
	}
	calls := p.fs.Calls()
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range everyFault() {
		for at := range calls {
			p := begin()
			plan := f.plan
			plan.At = at
			p.fs.SetPlan(&plan)
			_, err := remove(p)
			when := fmt.Sprintf("%s at call %d (%v)", f.name, at, err)
			p.fs.SetPlan(nil)
			if f.after != nil {
				f.after(p, random)
			}
			left, err := remove(p)
			// A removal that the power undid may still have changed the file.
			left = slices.DeleteFunc(left, func(l store.Left) bool {
				return strings.HasPrefix(l.Why, "changed") || l.Why == "not empty"
			})
			if err != nil || len(left) != 1 || left[0].Path != faultRoot+"/mine" {
				t.Errorf("%s: left are %v, %v", when, left, err)
			}
			if got := p.readFile(faultRoot + "/mine"); string(got) != "mine" {
				t.Errorf("%s: the user's file is %q", when, got)
			}
			p.checkOutside(when)
			if t.Failed() {
				return
			}
		}
	}
}

// TestReplacedWhileCopied replaces a file that has other names while the store copies it. The user's file stays.
func TestReplacedWhileCopied(t *testing.T) {
	p := faulty(t, kind{links: true})
	p.ok(p.start())
	mine := []byte("mine")
	p.fs.SetPlan(&faultPlan{
		Times: 1, Only: func(call, name string) bool { return call == "sync" && strings.Contains(name, ".mob-") },
		Do: func() {
			p.ok(p.fs.Remove(faultRoot + "/a/x"))
			p.writeFile(faultRoot+"/a/x", mine, 0o644)
		},
	})
	var changed *store.ChangedError
	if err := p.put(99); !errors.As(err, &changed) {
		t.Errorf("the copy of a file that was replaced: %v", err)
	}
	p.fs.SetPlan(nil)
	var exists *store.ExistsError
	if err := p.put(99); !errors.As(err, &exists) {
		t.Errorf("the next write: %v", err)
	}
	_ = p.end() // the copy failed
	if is := p.readFile(faultRoot + "/a/x"); !bytes.Equal(is, mine) {
		t.Errorf("the user's file has %d bytes", len(is))
	}
	p.checkOutside("replaced while copied")
}

// TestUnrecordedRemoved checks that an entry is removed if the journal is full and does not take its record. The error names the
// journal.
func TestUnrecordedRemoved(t *testing.T) {
	for entry, created := range map[string]string{"a": "mkdir", "c": "open", "e": "open", "l": "symlink"} {
		t.Run(entry, func(t *testing.T) {
			p := faulty(t, kind{})
			p.ok(p.start())
			full := false
			p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.ENOSPC, Only: func(call, name string) bool {
				full = full || call == created && filepath.Base(name) == entry
				return full && call == "write" && filepath.Base(name) == store.JournalFile
			}})
			err := p.put(99)
			if err == nil {
				err = p.open.Publish()
			}
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), store.JournalFile) {
				t.Errorf("with a full journal: %v", err)
			}
			p.fs.SetPlan(nil)
			_ = p.end() // the journal was full
			if left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// TestNoSymbolicLinks publishes a link on a file system without symbolic links, which denies them like something that is not permitted.
func TestNoSymbolicLinks(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(99))
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.EPERM, Only: func(call, _ string) bool { return call == "symlink" }})
	want := faultRoot + "/l cannot be created: its file system has no symbolic links"
	if err := p.open.Publish(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("published: %v, want %q", err, want)
	}
	p.fs.SetPlan(nil)
	p.ok(p.open.Finish())
	p.ok(p.end())
}

// TestNamesThatAreOne writes to a file system that does not tell upper from lower case.
func TestNamesThatAreOne(t *testing.T) {
	for name, sizes := range map[string][2]int64{"files": {9, 9}, "empty file": {0, 9}, "empty file, later": {9, 0}} {
		t.Run(name, func(t *testing.T) {
			p := faulty(t, kind{})
			p.fs.Fold = true
			p.Content = storetest.Make(t, 3, storetest.Dir("D"), storetest.File("D/File", sizes[0]),
				storetest.Dir("d"), storetest.File("d/fILE", sizes[1]))
			var alias *store.AliasError
			_, err := p.life("")
			if !errors.As(err, &alias) {
				t.Fatalf("%v", err)
			}
			if a, b := alias.Path, alias.Other; a == b || !strings.EqualFold(a, b) {
				t.Errorf("names %s and %s", a, b)
			}
			_ = p.end()
		})
	}
}

// TestNamesThatAreOneBefore takes over a directory in which two names are one file.
func TestNamesThatAreOneBefore(t *testing.T) {
	p := faulty(t, kind{})
	p.fs.Fold = true
	p.Content = storetest.Make(t, 3, storetest.File("File", 9), storetest.File("fILE", 9))
	p.ok(p.fs.MkdirAll(faultRoot, 0o755))
	p.writeFile(faultRoot+"/file", p.Data[:9], 0o644)
	var alias *store.AliasError
	if _, err := store.Adopt(faultDir, faultRoot, p.Manifest, p.files); !errors.As(err, &alias) {
		t.Errorf("%v", err)
	}
	if got := p.readFile(faultRoot + "/file"); !bytes.Equal(got, p.Data[:9]) {
		t.Error("the file was written to")
	}
}

// TestNewDirectoryIsEmpty starts a transfer to a new directory, and asks for room. The store does not
// look for the files that it will write there.
func TestNewDirectoryIsEmpty(t *testing.T) {
	p := faulty(t, kind{more: 20})
	p.fs.SetPlan(&faultPlan{Only: func(call, name string) bool {
		return call == "lstat" && strings.HasPrefix(name, "more")
	}})
	d, err := store.Create(faultDir, faultRoot, p.Manifest, p.files)
	p.ok(err)
	need, _, _ := d.Room()
	if n := p.fs.Calls(); need != p.Manifest.Length() || n > 0 {
		t.Errorf("needs %d bytes of %d, and looked for %d files", need, p.Manifest.Length(), n)
	}
	p.ok(d.Close())
}

// TestAdoptLooksOnce checks that Adopt makes two calls for each further file that exists: lstat, and a record in the journal.
func TestAdoptLooksOnce(t *testing.T) {
	calls := func(files int) int {
		p := faulty(t, kind{more: files})
		p.fetch()
		p.ok(p.fs.Remove(faultDir + "/journal"))
		p.fs.SetPlan(&faultPlan{At: 1 << 30, Times: 1})
		d, err := store.Adopt(faultDir, faultRoot, p.Manifest, p.files)
		p.ok(err)
		n := p.fs.Calls()
		p.ok(d.Close())
		return n
	}
	few, many := calls(3), calls(33)
	if many-few > 5*30 { // lstat, and open, advise and close for what is hashed from the disk
		t.Errorf("%d calls for 3 files, %d for 33", few, many)
	}
}

// TestInodeReused deletes a file and a directory that were fetched, and creates a file and a directory with their names and
// inode numbers. The file is not written to, and neither is removed.
func TestInodeReused(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(999))
	p.ok(p.open.Finish())
	p.ok(p.end())
	inode := func(name string) uint64 {
		info, err := p.fs.Lstat(faultRoot + "/" + name)
		p.ok(err)
		return vfs.StatOf(info).Inode
	}
	file, dir := inode("c"), inode("a")
	p.ok(p.fs.Remove(faultRoot + "/c"))
	p.ok(faultDirectory{p.fs, p.fs.root}.Chmod("home/content/a", 0o755))
	p.ok(p.fs.Remove(faultRoot + "/a/x"))
	p.ok(p.fs.Remove(faultRoot + "/a"))
	mine := bytes.Repeat([]byte{1}, 2*proto.MinPieceLength)
	p.fs.inode = file - 1
	p.writeFile(faultRoot+"/c", mine, 0o644)
	p.fs.inode = dir - 1
	p.ok(p.fs.Mkdir(faultRoot+"/a", 0o755))
	p.fs.inode = 1000
	p.ok(p.start())
	var exists *store.ExistsError
	if err := p.put(999); !errors.As(err, &exists) {
		t.Errorf("the pieces were written: %v", err)
	}
	p.ok(p.end())
	left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files)
	p.ok(err)
	if len(left) != 2 || inode("a") != dir || !bytes.Equal(p.readFile(faultRoot+"/c"), mine) {
		t.Errorf("left %v", left)
	}
}

// TestInodeOfRootReused deletes complete content, and makes an empty directory that gets its name and inode number. It stays.
func TestInodeOfRootReused(t *testing.T) {
	p := faulty(t, kind{})
	p.fetch()
	info, err := p.fs.Lstat(faultRoot)
	p.ok(err)
	p.ok(faultDirectory{p.fs, p.fs.root}.Chmod("home/content/a", 0o755))
	for _, name := range []string{"/a/x", "/a", "/b", "/c", "/e", "/l", ""} {
		p.ok(p.fs.Remove(faultRoot + name))
	}
	p.fs.inode = vfs.StatOf(info).Inode - 1
	p.ok(p.fs.Mkdir(faultRoot, 0o755))
	left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files)
	if _, failed := p.fs.Lstat(faultRoot); err != nil || failed != nil || len(left) != 1 {
		t.Errorf("left %v, %v; %v", left, err, failed)
	}
}

// TestInodeOfReusedFile takes over a file. Once the content is complete, the user deletes it, and another file gets its name and
// inode number. That is not written to.
func TestInodeOfReusedFile(t *testing.T) {
	const path = faultRoot + "/c"
	for name, restart := range map[string]bool{"running": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			p := faulty(t, kind{})
			p.ok(p.fs.MkdirAll(faultRoot, 0o755))
			p.writeFile(path, []byte("older"), 0o644)
			p.ok(p.start())
			p.ok(p.put(999))
			p.ok(p.open.Finish())
			info, err := p.fs.Lstat(path)
			p.ok(err)
			p.ok(p.fs.Remove(path))
			mine := bytes.Repeat([]byte{1}, 2*proto.MinPieceLength)
			p.fs.inode = vfs.StatOf(info).Inode - 1
			p.writeFile(path, mine, 0o644)
			p.fs.inode = 1000
			if restart {
				p.ok(p.end())
				p.ok(p.start())
			}
			for i := range p.Manifest.Pieces() {
				p.ok(p.open.Forget(i))
			}
			var exists *store.ExistsError
			if err := p.put(999); !errors.As(err, &exists) {
				t.Errorf("the pieces were written: %v", err)
			}
			if !bytes.Equal(p.readFile(path), mine) {
				t.Error("the user's file was written to")
			}
			p.ok(p.end())
		})
	}
}

// TestCopyUp takes over a file on an overlay file system: when the file is opened for writing, it is copied, and has another time
// of creation.
func TestCopyUp(t *testing.T) {
	const path = faultRoot + "/c"
	p := faulty(t, kind{})
	p.ok(p.fs.MkdirAll(faultRoot, 0o755))
	p.writeFile(path, []byte("older"), 0o644)
	p.ok(p.start())
	copyUp := sync.OnceFunc(func() {
		p.fs.mu.Lock()
		defer p.fs.mu.Unlock()
		n, err := p.fs.walk(p.fs.root, path)
		p.ok(err)
		p.fs.clock += 1000
		n.born, n.changed = p.fs.clock, p.fs.clock
	})
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Do: copyUp, Only: func(call, name string) bool { return call == "open" && name == "c" }})
	p.ok(p.put(999))
	p.ok(p.open.Finish())
	p.fs.SetPlan(nil)
	p.verify("copied")
	p.ok(p.end())
}

// TestDestinationRace creates the destination just before the store does. It counts as one that existed before.
func TestDestinationRace(t *testing.T) {
	for name, test := range map[string]struct {
		start func(p *disk) (*store.Disk, error)
		fails bool
	}{
		"create": {func(p *disk) (*store.Disk, error) {
			return store.Create(faultDir, faultRoot, p.Manifest, p.files)
		}, true},
		"adopt": {func(p *disk) (*store.Disk, error) {
			return store.Adopt(faultDir, faultRoot, p.Manifest, p.files)
		}, false},
		"open": {func(p *disk) (*store.Disk, error) {
			d, err := store.Create(faultDir, faultRoot, p.Manifest, p.files)
			p.ok(err)
			p.ok(d.Close())
			p.ok(p.fs.Remove(faultRoot))
			p.raceForRoot()
			return store.Open(faultDir, faultRoot, p.Manifest, p.files)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := faulty(t, kind{})
			if name != "open" {
				p.raceForRoot()
			}
			d, err := test.start(p)
			if p.fs.Calls() == 0 {
				t.Fatal("the destination was not created by another program")
			}
			p.fs.SetPlan(nil)
			var exists *store.ExistsError
			if test.fails {
				if !errors.As(err, &exists) || exists.Path != faultRoot {
					t.Errorf("%v, want an ExistsError", err)
				}
				return
			}
			p.ok(err)
			p.open = d
			p.ok(p.put(-1))
			p.ok(d.Finish())
			p.ok(p.end())
			left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files)
			p.ok(err)
			if len(left) != 1 || left[0].Path != faultRoot {
				t.Errorf("left %v, want the destination", left)
			}
		})
	}
}

// raceForRoot has another program create the destination just before the next directory is made.
func (p *disk) raceForRoot() {
	p.fs.SetPlan(&faultPlan{
		Times: 1, Only: func(call, _ string) bool { return call == "mkdir" },
		Do: func() { p.ok(p.fs.Mkdir(faultRoot, 0o755)) },
	})
}

// TestEmptiedFlushedOnce fetches files again that were all deleted. The journal is not flushed for each of them.
func TestEmptiedFlushedOnce(t *testing.T) {
	p := faulty(t, kind{more: 20})
	p.ok(p.start())
	p.ok(p.put(999))
	p.ok(p.open.Finish())
	p.ok(p.end())
	root, err := p.fs.OpenRoot(faultRoot)
	p.ok(err)
	p.ok(root.Chmod("a", 0o755))
	for _, e := range p.Manifest.Entries {
		if e.Size > 0 {
			p.ok(root.Remove(e.Path))
		}
	}
	p.ok(root.Close())
	flushes := 0
	p.fs.SetPlan(&faultPlan{Only: func(call, name string) bool {
		if call == "sync" && filepath.Base(name) == store.JournalFile {
			flushes++
		}
		return false
	}})
	p.open, err = store.OpenEmptied(faultDir, faultRoot, p.Manifest, p.files)
	p.ok(err)
	p.ok(p.put(999))
	p.fs.SetPlan(nil)
	if flushes != 1 {
		t.Errorf("%d flushes", flushes)
	}
	p.ok(p.open.Finish())
	p.ok(p.end())
}
