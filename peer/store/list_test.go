package store_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// TestScanChangedEntries changes entries while the files are hashed.
func TestScanChangedEntries(t *testing.T) {
	for name, test := range map[string]struct {
		path, want string
		do         func(path string) error
	}{
		"new file":             {"a/new", "it is new", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
		"new link":             {"new", "it is new", func(path string) error { return os.Symlink("x", path) }},
		"new directory":        {"new", "it is new", func(path string) error { return os.Mkdir(path, 0o755) }},
		"empty file filled":    {"empty", "its size", func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }},
		"empty file touched":   {"empty", "modification time", func(path string) error { return os.Chtimes(path, timeOf(0), timeOf(1)) }},
		"empty file removed":   {"empty", "it was removed", os.Remove},
		"link changed":         {"link", "it leads to another path", func(path string) error { return errors.Join(os.Remove(path), os.Symlink("b", path)) }},
		"link replaced":        {"link", "it was replaced", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }},
		"link removed":         {"link", "it was removed", os.Remove},
		"directory removed":    {"none", "it was removed", os.Remove},
		"directory replaced":   {"none", "it was replaced", func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }},
		"directory's time":     {"none", "its modification time", func(path string) error { return os.Chtimes(path, timeOf(0), timeOf(1)) }},
		"file's mode":          {"b", "its mode", func(path string) error { return os.Chmod(path, 0o700) }},
		"directory's mode":     {"none", "its mode", func(path string) error { return os.Chmod(path, 0o700) }},
		"top directory's mode": {"", "its mode", func(path string) error { return os.Chmod(path, 0o711) }},
		"all removed":          {"", "it was removed", os.RemoveAll},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, storetest.Make(t, 2, storetest.Dir("a"), storetest.File("a/x", 2*piece),
				storetest.File("b", piece), storetest.File("empty", 0), storetest.Link("link", "a"), storetest.Dir("none")))
			p.Write(t, p.root)
			_, err := store.Scan(t.Context(), p.root, store.ScanOptions{
				PieceLength: piece,
				Progress: func(done, total int64) {
					if done == total {
						p.ok(test.do(p.path(test.path)))
					}
				},
			})
			var changed *store.ChangedError
			if !errors.As(err, &changed) || changed.Path != p.path(test.path) || !strings.Contains(changed.Reason, test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestScanUnreadable scans files and directories that may not be read.
func TestScanUnreadable(t *testing.T) {
	const root = "/home/seed"
	modes := map[string]os.FileMode{"f": 0, "sub/empty": 0o200, "closed": 0, "names only": 0o600, "no names": 0o300}
	p := faulty(t, kind{})
	for _, dir := range []string{"sub", "closed", "names only", "no names"} {
		p.ok(p.fs.MkdirAll(path.Join(root, dir), 0o755))
	}
	for _, name := range []string{"f", "sub/good", "closed/f", "names only/f", "no names/f"} {
		p.writeFile(path.Join(root, name), []byte(name), 0o600)
	}
	p.writeFile(root+"/sub/empty", nil, 0o600)
	r, err := p.fs.OpenRoot(root)
	p.ok(err)
	defer r.Close()
	for name, mode := range modes {
		p.ok(r.Chmod(name, mode))
	}

	_, err = store.Scan(t.Context(), root, store.ScanOptions{FS: p.fs})
	var closed *store.ClosedError
	if !errors.As(err, &closed) || len(closed.Paths) != len(modes) {
		t.Fatalf("scanned: %v", err)
	}
	for name := range modes {
		if !slices.Contains(closed.Paths, path.Join(root, name)) {
			t.Errorf("%v does not name %q", err, name)
		}
	}

	var skipped []string
	opt := store.ScanOptions{FS: p.fs, SkipUnreadable: func(path string) { skipped = append(skipped, path) }}
	m, err := store.Scan(t.Context(), root, opt)
	p.ok(err)
	if slices.Sort(skipped); !slices.Equal(skipped, []string{"closed", "f", "names only", "no names", "sub/empty"}) {
		t.Errorf("skipped %q", skipped)
	}
	if len(m.Entries) != 2 || m.Entries[0].Path != "sub" || m.Entries[1].Path != "sub/good" {
		t.Errorf("entries %+v", m.Entries)
	}

	for i := range 30 {
		p.writeFile(fmt.Sprintf("%s/f%d", root, i), nil, 0)
	}
	_, err = store.Scan(t.Context(), root, store.ScanOptions{FS: p.fs})
	if !errors.As(err, &closed) || len(closed.Paths) != 20 || closed.More != 15 || !strings.Contains(err.Error(), "and 15 more") {
		t.Errorf("scanned: %v", err)
	}
}

// TestScanFileRemoved removes a file that is hashed later.
func TestScanFileRemoved(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	setCPUs(t, 1)
	opt := store.ScanOptions{PieceLength: piece, Progress: func(int64, int64) {
		_ = os.Remove(p.path("c"))
	}}
	_, err := store.Scan(t.Context(), p.root, opt)
	var changed *store.ChangedError
	if !errors.As(err, &changed) || changed.Path != p.path("c") {
		t.Errorf("%v", err)
	}
}
