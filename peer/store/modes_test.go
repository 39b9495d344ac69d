package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// special is content with setuid, setgid and sticky bits.
func special(t *testing.T) *place {
	c := storetest.Make(t, 1, storetest.Dir("drop"), storetest.Dir("team"), storetest.Dir("old"),
		storetest.File("su", piece), storetest.File("wall", 5), storetest.File("empty", 0))
	for path, mode := range map[string]uint32{
		"drop": 0o1777, "team": 0o2775, "old": 0o4755, "su": 0o4755, "wall": 0o2755, "empty": 0o6755,
	} {
		for i := range c.Manifest.Entries {
			if e := &c.Manifest.Entries[i]; e.Path == path {
				e.Mode = mode
			}
		}
	}
	c.Manifest.Root = &proto.Entry{Kind: proto.Dir, Mode: 0o2750, MTime: proto.NoMTime}
	c.Hash(t)
	return newPlace(t, c)
}

// TestSpecialBits fetches files and directories with setuid, setgid and sticky bits. Directories keep setgid
// and sticky; files keep what they have only if asked, and a scan finds the kept bits.
func TestSpecialBits(t *testing.T) {
	const setuid, setgid, sticky = fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky
	for name, test := range map[string]struct {
		keep bool
		want map[string]fs.FileMode
	}{
		"dropped": {false, map[string]fs.FileMode{
			"": 0o750 | setgid, "drop": 0o777 | sticky, "team": 0o775 | setgid, "old": 0o755, "su": 0o755, "wall": 0o755, "empty": 0o755,
		}},
		"kept": {true, map[string]fs.FileMode{
			"": 0o750 | setgid, "drop": 0o777 | sticky, "team": 0o775 | setgid, "old": 0o755 | setuid, "su": 0o755 | setuid,
			"wall": 0o755 | setgid, "empty": 0o755 | setuid | setgid,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := special(t)
			d := p.create()
			if info, err := os.Stat(p.root); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("while it is fetched the root has mode %v, %v", info.Mode(), err)
			}
			if test.keep {
				d.KeepSpecialBits()
			}
			p.putAll(d)
			p.ok(d.Publish())
			p.ok(d.Finish())
			for path, want := range test.want {
				info, err := os.Stat(filepath.Join(p.root, path))
				p.ok(err)
				if got := info.Mode() &^ fs.ModeDir; got != want {
					t.Errorf("%q has mode %v, want %v", path, got, want)
				}
			}
			p.ok(d.Close())
			m, err := store.Scan(t.Context(), p.root, store.ScanOptions{PieceLength: piece})
			p.ok(err)
			if m.Root == nil || m.Root.Mode != 0o2750 {
				t.Errorf("scanned root: %+v", m.Root)
			}
			if n := m.SpecialBits(); test.keep != (n == 4) || !test.keep && n != 0 {
				t.Errorf("%d entries have bits that a fetch drops", n)
			}
		})
	}
}

// TestInheritedSetgid fetches into a directory with the setgid bit. The directories that are made keep the bit
// that the system gives them.
func TestInheritedSetgid(t *testing.T) {
	c := storetest.Make(t, 1, storetest.Dir("a"), storetest.File("a/x", 5))
	p := newPlace(t, c)
	parent := filepath.Dir(p.root)
	p.ok(os.Chmod(parent, 0o755|fs.ModeSetgid))
	probe := filepath.Join(parent, "probe")
	p.ok(os.Mkdir(probe, 0o755))
	info, err := os.Stat(probe)
	p.ok(err)
	p.ok(os.Remove(probe))
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.ok(d.Finish())
	for _, name := range []string{"", "a"} {
		got, err := os.Stat(p.path(name))
		p.ok(err)
		if got.Mode()&fs.ModeSetgid != info.Mode()&fs.ModeSetgid {
			t.Errorf("%q has mode %v", name, got.Mode())
		}
	}
	p.ok(d.Close())
}

// TestUmask checks that files and directories have the modes of the source less the umask, also after the store was
// opened again.
func TestUmask(t *testing.T) {
	p := special(t)
	p.files.SetUmask(0o027)
	d := p.create()
	p.putAll(d)
	p.ok(d.Publish())
	p.ok(d.Finish())
	p.ok(d.Close())
	d = p.open()
	p.ok(d.Finish())
	for path, want := range map[string]fs.FileMode{
		"": 0o750 | fs.ModeSetgid, "drop": 0o750 | fs.ModeSticky, "team": 0o750 | fs.ModeSetgid, "old": 0o750,
		"su": 0o750, "wall": 0o750, "empty": 0o750,
	} {
		info, err := os.Stat(filepath.Join(p.root, path))
		p.ok(err)
		if got := info.Mode() &^ fs.ModeDir; got != want {
			t.Errorf("%q has mode %v, want %v", path, got, want)
		}
	}
	p.ok(d.Close())
}
