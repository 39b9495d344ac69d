package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// linked is a directory with symbolic links, of which some lead out of it, beside what these lead to.
type linked struct {
	*testing.T
	dir, root string
}

// newLinked makes files with the text of their names, and links, which are "NAME -> TARGET". In both
// @ is the directory above the root.
func newLinked(t *testing.T, names ...string) *linked {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	l := &linked{t, dir, filepath.Join(dir, "root")}
	l.ok(err)
	l.ok(os.Mkdir(l.root, 0o755))
	for _, text := range names {
		name, target, isLink := strings.Cut(strings.ReplaceAll(text, "@", dir), " -> ")
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.root, name)
		}
		l.ok(os.MkdirAll(filepath.Dir(name), 0o755))
		if isLink {
			l.ok(os.Symlink(target, name))
		} else {
			l.ok(os.WriteFile(name, []byte(text), 0o640))
		}
	}
	return l
}

func (l *linked) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *linked) scan() (*proto.Manifest, error) {
	return store.Scan(l.Context(), l.root, store.ScanOptions{FollowLinks: true, PieceLength: proto.MinPieceLength})
}

// TestFollow scans directories with links, and serves what they lead to.
func TestFollow(t *testing.T) {
	for name, test := range map[string]struct {
		names []string
		want  []string // files, folders with a slash, and links, in the order of the manifest
	}{
		"the cache of a hub": {
			[]string{"@/blobs/b1", "@/blobs/b2", "model -> ../blobs/b1", "sub/config -> ../../blobs/b2"},
			[]string{"model", "sub/", "sub/config"},
		},
		"links within":       {[]string{"a/x", "l -> a/x", "to -> a", "a/up -> ..", "none -> a/none"}, []string{"a/", "a/up -> ..", "a/x", "l -> a/x", "none -> a/none", "to -> a"}},
		"absolute, within":   {[]string{"a/x", "b/l -> @/root/a/x", "c -> @/root", "d -> @/root/a"}, []string{"a/", "a/x", "b/", "b/l -> ../a/x", "c -> .", "d -> a"}},
		"within, by the way": {[]string{"a/x", "b/l -> ../../root/a/x"}, []string{"a/", "a/x", "b/", "b/l -> ../a/x"}},
		"several to a file":  {[]string{"@/o/f", "b/l -> @/o/f", "b/m -> ../../o/f", "c -> @/o/f"}, []string{"b/", "b/l", "b/m -> l", "c -> b/l"}},
		"chain":              {[]string{"@/o/f", "@/o/l -> f", "a -> ../o/l", "b -> a"}, []string{"a", "b -> a"}},
		"a folder":           {[]string{"@/o/d/f", "@/o/d/l -> f", "@/o/d/m -> ../x", "@/o/x", "a -> ../o/d"}, []string{"a/", "a/f", "a/l -> f", "a/m"}},
		"a folder twice":     {[]string{"@/o/d/f", "a -> ../o/d", "b -> ../o/d", "c -> ../o/d/f"}, []string{"a/", "a/f", "b -> a", "c -> a/f"}},
		"a part before":      {[]string{"@/o/d/f", "a -> ../o/d/f", "b -> ../o/d"}, []string{"a", "b/", "b/f -> ../a"}},
		"a loop outside":     {[]string{"@/o/d/f", "@/o/d/up -> ..", "a -> ../o/d"}, []string{"a/", "a/f", "a/up/", "a/up/d -> .."}},
		"back into it":       {[]string{"x", "@/o/d/back -> ../../root", "a -> ../o/d"}, []string{"a/", "a/back -> ..", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLinked(t, test.names...)
			m, err := l.scan()
			l.ok(err)
			var got []string
			for _, e := range m.Entries {
				text := e.Path
				switch e.Kind {
				case proto.Dir:
					text += "/"
				case proto.Symlink:
					text += " -> " + e.Target
				}
				got = append(got, text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			l.serves(m)
		})
	}
}

// serves checks that a seed has all pieces, and has them after a restart.
func (l *linked) serves(m *proto.Manifest) {
	l.Helper()
	state := filepath.Join(l.TempDir(), "state")
	files := store.NewFilesOn(vfs.Follow(vfs.OS{}), 0)
	d, err := store.Seed(state, l.root, m, files)
	l.ok(err)
	for range 2 {
		for i := range m.Pieces() {
			if good, err := store.NewVerifier(m).Check(d, i); !good || err != nil || !d.Has(i) {
				l.Errorf("piece %d: %v, %v", i, good, err)
			}
		}
		l.ok(d.Close())
		d, err = store.Open(state, l.root, m, files)
		l.ok(err)
	}
	l.ok(d.Close())
}

// TestFollowErrors scans directories with links that cannot be followed. The errors name the link.
func TestFollowErrors(t *testing.T) {
	for name, test := range map[string]struct{ link, want string }{
		"nowhere":       {"l -> ../none", "/root/l leads to ../none, which does not exist"},
		"to itself":     {"l -> @/root/l", "/root/l leads to "},
		"around it":     {"a/l -> @", "/root/a/l leads to "},
		"a device":      {"l -> /dev/null", "/dev/null is not a file, a directory or a symbolic link"},
		"not to be had": {"l -> @/closed", "/root/l leads to "},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLinked(t, "@/closed", test.link)
			_, err := store.Scan(t.Context(), l.root, store.ScanOptions{FollowLinks: true, Outside: func(path string) error {
				if strings.HasSuffix(path, "/closed") {
					return errors.New("not this")
				}
				return nil
			}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	l := newLinked(t, "l -> ../out", "@/out")
	_, err := store.Scan(t.Context(), l.root, store.ScanOptions{})
	if !errors.Is(err, proto.ErrLeadsOut) {
		t.Errorf("not followed: %v", err)
	}
}

// TestFollowedLinkChanges makes a link of a seed lead to another file. That is not read, though it has
// the same bytes, before it is hashed.
func TestFollowedLinkChanges(t *testing.T) {
	l := newLinked(t, "@/o/f", "l -> ../o/f", "x")
	m, err := l.scan()
	l.ok(err)
	files := store.NewFilesOn(vfs.Follow(vfs.OS{}), 0)
	d, err := store.Seed(filepath.Join(l.dir, "state"), l.root, m, files)
	l.ok(err)
	l.ok(d.Close())
	d, err = store.Open(filepath.Join(l.dir, "state"), l.root, m, files)
	l.ok(err)
	link := filepath.Join(l.root, "l")
	same, err := os.ReadFile(link)
	l.ok(err)
	l.ok(os.WriteFile(filepath.Join(l.dir, "o", "secret"), same, 0o600))
	l.ok(os.Remove(link))
	l.ok(os.Symlink("../o/secret", link))
	var changed *store.ChangedError
	if n, err := d.ReadAt(make([]byte, 1), 0); n > 0 || !errors.As(err, &changed) {
		t.Errorf("read %d bytes: %v", n, err)
	}
	l.ok(d.Close())
	d, err = store.Open(filepath.Join(l.dir, "state"), l.root, m, files)
	l.ok(err)
	if !d.Unverified()[0] {
		t.Error("what it leads to is not hashed again")
	}
	l.ok(store.Reaudit(t.Context(), d, store.NewVerifier(m), d.Unverified(), nil))
	if good, err := store.NewVerifier(m).Check(d, 0); !good || err != nil {
		t.Errorf("hashed again: %v, %v", good, err)
	}
	l.ok(d.Close())
}

// TestFollowedSeedMoved moves a directory of which links are followed. A comparison finds that it is away.
func TestFollowedSeedMoved(t *testing.T) {
	l := newLinked(t, "@/o/f", "l -> ../o/f", "x")
	m, err := l.scan()
	l.ok(err)
	d, err := store.Seed(filepath.Join(l.dir, "state"), l.root, m, store.NewFilesOn(vfs.Follow(vfs.OS{}), 0))
	l.ok(err)
	l.ok(os.Rename(l.root, l.root+"-moved"))
	if s, err := d.Look(t.Context()); err != nil || !s.Away {
		t.Errorf("state %+v, %v", s, err)
	}
	l.ok(d.Close())
}
