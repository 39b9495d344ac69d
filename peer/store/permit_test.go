package store_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// denied is content whose modes deny access to its owner.
func denied(t *testing.T, root uint32, more int) *disk {
	p := faulty(t, kind{more: more})
	entries := []proto.Entry{
		storetest.Dir("none"), storetest.Dir("none/deep"), storetest.File("none/deep/x", 10), storetest.File("none/y", 3*proto.MinPieceLength),
		storetest.Dir("search"), storetest.File("search/z", 10), storetest.Link("search/link", "z"), storetest.Dir("write"),
		storetest.File("closed", 2*proto.MinPieceLength), storetest.File("empty", 0), storetest.File("small", 10), storetest.File("write/w", 7),
	}
	entries = append(entries, p.Manifest.Entries...)
	p.Content = storetest.Make(t, 9, entries...)
	p.Manifest.PieceLength = proto.MinPieceLength
	p.Manifest.Root = &proto.Entry{Kind: proto.Dir, Mode: root, MTime: proto.NoMTime}
	modes := map[string]uint32{
		"none": 0, "none/deep": 0, "none/deep/x": 0, "none/y": 0o200, "search": 0o111, "write": 0o333,
		"closed": 0, "empty": 0, "small": 0o200,
	}
	for i := range p.Manifest.Entries {
		e := &p.Manifest.Entries[i]
		if mode, ok := modes[e.Path]; ok {
			e.Mode = mode
		}
	}
	p.Hash(t)
	return p
}

// TestModesWithoutRights fetches content whose modes give its owner no access. It gets these modes,
// is flushed and served, and known again after a restart.
func TestModesWithoutRights(t *testing.T) {
	for name, test := range map[string]struct {
		root  uint32
		more  int
		above fs.FileMode
	}{
		"each file flushed": {0o700, 0, 0o755}, "bulk": {0o700, 70, 0o755}, "read-only root": {0o500, 0, 0o755},
		"read-only root in a directory that cannot be read": {0o500, 0, 0o311}, "root without rights": {0, 0, 0o755},
	} {
		t.Run(name, func(t *testing.T) {
			p := denied(t, test.root, test.more)
			above, err := p.fs.OpenRoot(filepath.Dir(faultRoot))
			p.ok(err)
			p.ok(errors.Join(above.Chmod(".", test.above), above.Close()))
			p.ok(p.start())
			p.ok(p.put(999))
			p.ok(p.open.Publish())
			p.ok(p.open.Finish())
			for range 2 {
				for i := range p.Manifest.Pieces() {
					if good, err := store.NewVerifier(p.Manifest).Check(p.open, i); !good || err != nil {
						t.Fatalf("piece %d: %v, %v", i, good, err)
					}
				}
				p.wantModes()
				p.ok(p.end())
				p.ok(p.start())
				for i, unverified := range p.open.Unverified() {
					if unverified || !p.open.Has(i) {
						t.Errorf("piece %d is to be hashed again", i)
					}
				}
			}
			p.ok(p.end())
			left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files)
			if err != nil || len(left) > 0 {
				t.Errorf("left %v: %v", left, err)
			}
			if _, err := p.fs.Lstat(faultRoot); err == nil {
				t.Error("the directory was not removed")
			}
		})
	}
}

// wantModes checks the modes of all files and directories, as a user does that may look at everything.
func (p *disk) wantModes() {
	p.t.Helper()
	entries := append([]proto.Entry{*p.Manifest.Root}, p.Manifest.Entries...)
	for _, e := range entries {
		if e.Kind == proto.Symlink {
			continue
		}
		mode, err := p.fs.ModeOf(faultRoot + "/" + e.Path)
		if err != nil || mode.Perm() != fs.FileMode(e.Mode) {
			p.t.Errorf("%q has mode %v, %v; want %#o", e.Path, mode, err, e.Mode)
		}
	}
}

// TestModesOfSeed seeds a file without permissions: the seed fails, and the mode stays.
func TestModesOfSeed(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.fs.MkdirAll("/home/seed", 0o755))
	p.writeFile("/home/seed/f", []byte("text"), 0)
	_, err := store.Scan(t.Context(), "/home/seed", store.ScanOptions{FS: p.fs})
	if err == nil || !strings.Contains(err.Error(), "cannot read /home/seed/f: permission denied") {
		t.Errorf("scanned: %v", err)
	}
	if mode, err := p.fs.ModeOf("/home/seed/f"); err != nil || mode.Perm() != 0 {
		t.Errorf("the file has mode %v, %v", mode, err)
	}
}

// TestRepairReadOnlyFile fetches a damaged piece of a published file of mode 0444 again. The store's own change of the mode
// does not count as a change by another program.
func TestRepairReadOnlyFile(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.start())
	p.ok(p.put(999))
	p.ok(p.open.Finish())
	p.ok(p.open.Forget(0))
	p.ok(p.put(1))
	p.ok(p.open.Finish())
	p.ok(p.end())
	var err error
	p.open, err = store.Open(faultDir, faultRoot, p.Manifest, p.files)
	p.ok(err)
	if i := slices.Index(p.open.Unverified(), true); i >= 0 {
		t.Errorf("piece %d is to be hashed again", i)
	}
	p.ok(p.end())
	if left, err := store.Remove(faultDir, faultRoot, p.Manifest, p.files); err != nil || len(left) > 0 {
		t.Errorf("left %v: %v", left, err)
	}
}

// fetchAgain finishes content whose directory search is read-only, calls change with the root while that directory may be written
// to, and forgets all pieces.
func fetchAgain(t *testing.T, change func(p *disk, root vfs.Root)) *disk {
	t.Helper()
	p := denied(t, 0o700, 0)
	p.ok(p.start())
	p.ok(p.put(999))
	p.ok(p.open.Publish())
	p.ok(p.open.Finish())
	root, err := p.fs.OpenRoot(faultRoot)
	p.ok(err)
	p.ok(root.Chmod("search", 0o755))
	change(p, root)
	p.ok(root.Chmod("search", 0o111))
	p.ok(root.Close())
	for i := range p.Manifest.Pieces() {
		p.ok(p.open.Forget(i))
	}
	return p
}

// TestCopyInReadOnlyDirectory replaces a file that has other names in a read-only directory while the store copies it. The copy is
// removed.
func TestCopyInReadOnlyDirectory(t *testing.T) {
	p := fetchAgain(t, func(p *disk, _ vfs.Root) { p.ok(p.fs.Link(faultRoot+"/search/z", "/home/other")) })
	temp := ""
	p.fs.SetPlan(&faultPlan{
		Times: 1,
		Only: func(call, name string) bool {
			if call != "sync" || !strings.Contains(name, ".mob-") {
				return false
			}
			temp = filepath.Base(name)
			return true
		},
		Do: func() {
			p.ok(p.fs.Remove(faultRoot + "/search/z"))
			p.writeFile(faultRoot+"/search/z", []byte("mine"), 0o644)
		},
	})
	var changed *store.ChangedError
	if err := p.put(999); !errors.As(err, &changed) {
		t.Errorf("the copy of a file that was replaced: %v", err)
	}
	p.fs.SetPlan(nil)
	if _, err := p.fs.Lstat(faultRoot + "/search/" + temp); temp == "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy %q: %v, want none", temp, err)
	}
	_ = p.end() // the copy failed
}

// TestUnrecordedInReadOnlyDirectory creates a file in a read-only directory whose record the journal does not take. It is removed.
func TestUnrecordedInReadOnlyDirectory(t *testing.T) {
	p := fetchAgain(t, func(p *disk, root vfs.Root) { p.ok(root.Remove("search/z")) })
	full := false
	p.fs.SetPlan(&faultPlan{Times: 1 << 30, Err: syscall.ENOSPC, Only: func(call, name string) bool {
		full = full || call == "open" && filepath.Base(name) == "z"
		return full && call == "write" && filepath.Base(name) == store.JournalFile
	}})
	if err := p.put(999); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with a full journal: %v", err)
	}
	p.fs.SetPlan(nil)
	if _, err := p.fs.Lstat(faultRoot + "/search/z"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file without a record: %v, want none", err)
	}
	_ = p.end() // the journal failed
}
