package store_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// look returns the differences that Look finds, as "path: what".
func (p *place) look(d *store.Disk) (found []string) {
	p.t.Helper()
	s, err := d.Look(p.t.Context())
	p.ok(err)
	if s.Away {
		return []string{"away"}
	}
	for _, diff := range s.Different {
		found = append(found, diff.Path+": "+string(diff.What))
	}
	return found
}

// audited hashes the unverified pieces of a store of complete content. A change of the files after that changes their stamps.
func (p *place) audited(d *store.Disk) *store.Disk {
	p.t.Helper()
	p.recheck(d)
	p.ok(d.Finish())
	before, err := os.Stat(p.path("b"))
	p.ok(err)
	for now := p.path("../now"); ; {
		p.ok(os.WriteFile(now, nil, 0o600))
		info, err := os.Stat(now)
		p.ok(errors.Join(err, os.Remove(now)))
		if vfs.StatOf(info).Changed > vfs.StatOf(before).Changed {
			return d
		}
	}
}

func TestLook(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(p *place) error
		want []string
	}{
		"nothing":            {func(*place) error { return nil }, nil},
		"file removed":       {func(p *place) error { return os.Remove(p.path("b")) }, []string{"b: gone"}},
		"file emptied":       {func(p *place) error { return os.Truncate(p.path("b"), 0) }, []string{"b: cut"}},
		"file extended":      {func(p *place) error { return os.Truncate(p.path("b"), 2*piece) }, []string{"b: grown"}},
		"file edited":        {func(p *place) error { p.flip(p.path("b"), 3); return nil }, []string{"b: changed"}},
		"file replaced":      {func(p *place) error { replace(p.t, p.path("b")); return nil }, []string{"b: changed"}},
		"empty file removed": {func(p *place) error { return os.Remove(p.path("e")) }, []string{"e: gone"}},
		"empty file filled":  {func(p *place) error { return os.WriteFile(p.path("e"), []byte("x"), 0o600) }, []string{"e: grown"}},
		"directory removed":  {func(p *place) error { return os.Remove(p.path("c")) }, []string{"c: gone"}},
		"link removed":       {func(p *place) error { return os.Remove(p.path("l")) }, []string{"l: gone"}},
		"link changed":       {func(p *place) error { return errors.Join(os.Remove(p.path("l")), os.Symlink("a", p.path("l"))) }, []string{"l: changed"}},
		"file made a link":   {func(p *place) error { return errors.Join(os.Remove(p.path("b")), os.Symlink("a/y", p.path("b"))) }, []string{"b: replaced"}},
		"link made a file": {func(p *place) error {
			return errors.Join(os.Remove(p.path("l")), os.WriteFile(p.path("l"), nil, 0o600))
		}, []string{"l: replaced"}},
		"file of no interest": {func(p *place) error { return os.WriteFile(p.path("mine"), nil, 0o600) }, nil},
		"root moved":          {func(p *place) error { return os.Rename(p.root, p.root+"-moved") }, []string{"away"}},
		"root replaced":       {func(p *place) error { return errors.Join(os.Rename(p.root, p.root+"-moved"), os.Mkdir(p.root, 0o700)) }, []string{"away"}},
		"root moved, link set": {func(p *place) error {
			return errors.Join(os.Rename(p.root, p.root+"2"), os.Symlink(p.root+"2", p.root))
		}, nil},
	} {
		for kind, open := range map[string]func(p *place) *store.Disk{
			"fetched":   func(p *place) *store.Disk { d := p.create(); p.putAll(d); p.ok(d.Finish()); return d },
			"published": func(p *place) *store.Disk { d := p.create(); p.putAll(d); p.ok(d.Publish()); return d },
			"reopened": func(p *place) *store.Disk {
				d := p.create()
				p.putAll(d)
				p.ok(errors.Join(d.Publish(), d.Close())) // as a kill before Finish
				return p.open()
			},
			"seeded": func(p *place) *store.Disk { p.Write(p.t, p.root); return p.got(p.seed()) },
			"reused": func(p *place) *store.Disk {
				p.Write(p.t, p.root)
				d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
				return p.audited(d)
			},
			"replaced and reused": func(p *place) *store.Disk {
				d := p.create()
				p.putAll(d)
				p.ok(errors.Join(d.Finish(), d.Close(), os.Rename(p.path("b"), p.path("b~")), os.WriteFile(p.path("b"), p.Data[5*piece/2:], 0o600), os.Remove(p.path("b~"))))
				d = p.open()
				p.ok(d.TakeOver())
				return p.audited(d)
			},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				p := removable(t)
				d := open(p)
				p.ok(test.do(p))
				if got := p.look(d); !slices.Equal(got, test.want) {
					t.Errorf("differences are %q, want %q", got, test.want)
				}
			})
		}
	}
}

// TestReplacedSeedAccepted checks that a file of a seed that a user replaced by equal bytes, as rsync does, is not
// reported once it was hashed.
func TestReplacedSeedAccepted(t *testing.T) {
	p := removable(t)
	p.Write(p.t, p.root)
	d := p.got(p.seed())
	replace(t, p.path("b"))
	changed := d.Changed()
	if len(changed) != 1 {
		t.Fatalf("%d files changed, want 1", len(changed))
	}
	p.ok(d.Accept(changed, p.has(d)))
	if got := p.look(d); len(got) > 0 {
		t.Errorf("differences are %q, want none", got)
	}
}

// TestDifferencesWhileFetching compares the files while pieces are missing.
func TestDifferencesWhileFetching(t *testing.T) {
	p := removable(t)
	d := p.create()
	p.put(d, 0, 1)
	if found, _, err := d.Differences(t.Context(), false); len(found) > 0 || err != nil {
		t.Errorf("differences are %q, %v", found, err)
	}
	p.ok(os.Remove(p.path("a/in/x")))
	want := []store.Difference{{Path: "a/in/x", What: store.Gone}}
	if found, _, err := d.Differences(t.Context(), false); !slices.Equal(found, want) || err != nil {
		t.Errorf("differences are %q, %v", found, err)
	}
}

// TestFailedSeed seeds files that changed since they were hashed. The earlier seed stays what it was.
func TestFailedSeed(t *testing.T) {
	p := removable(t)
	p.Write(t, p.root)
	d := p.got(p.seed())
	other := p.root + "-other"
	p.Write(t, other)
	p.ok(os.Truncate(other+"/b", 1))
	var changed *store.ChangedError
	if _, err := store.Seed(p.dir, other, p.Manifest, p.files); !errors.As(err, &changed) {
		t.Errorf("seed: %v", err)
	}
	p.ok(d.Close())
	p.want(p.open(), "vvvv")
}

// TestDifferencesContinue checks that an entry that cannot be read does not hide the next ones.
func TestDifferencesContinue(t *testing.T) {
	p := faulty(t, kind{})
	p.ok(p.fs.MkdirAll("/home/seed/a", 0o755))
	for _, name := range []string{"a/x", "b", "c"} {
		p.writeFile("/home/seed/"+name, []byte(name), 0o600)
	}
	m, err := store.Scan(t.Context(), "/home/seed", store.ScanOptions{FS: p.fs})
	p.ok(err)
	d, err := store.Seed(faultDir, "/home/seed", m, p.files)
	p.ok(err)
	r, err := p.fs.OpenRoot("/home/seed")
	p.ok(err)
	p.ok(errors.Join(r.Chmod("a", 0), p.fs.Remove("/home/seed/c"), r.Close()))
	found, away, err := d.Differences(t.Context(), true)
	want := []store.Difference{{Path: "a/x", What: store.NoAccess}, {Path: "c", What: store.Gone}}
	if err != nil || away || !slices.Equal(found, want) {
		t.Errorf("found %v, %v", found, err)
	}
	p.ok(d.Close())
}
