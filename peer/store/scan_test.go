package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// setCPUs sets the number of CPUs that a scan uses, until the end of the test.
func setCPUs(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// scanEqual scans root, and compares the manifest with the manifest of the content.
func (p *place) scanEqual(opt store.ScanOptions) {
	p.t.Helper()
	m, err := store.Scan(p.t.Context(), p.root, opt)
	p.ok(err)
	want := *p.Manifest
	want.Entries = append([]proto.Entry{}, want.Entries...)
	for i := range want.Entries {
		if e := &want.Entries[i]; e.Kind == proto.Symlink {
			e.MTime, e.Mode = 0, 0 // not scanned
		}
	}
	if opt.PieceLength == 0 {
		want.PieceLength = proto.DefaultPieceLength(want.Length())
	} else {
		want.PieceLength = opt.PieceLength
	}
	want.Hashes = slowHashes(p.Data, int(want.PieceLength))
	p.ok(want.Validate())
	if len(m.Entries) == 0 && len(want.Entries) == 0 {
		m.Entries, want.Entries = nil, nil
	}
	if len(m.Hashes) == 0 && len(want.Hashes) == 0 {
		m.Hashes, want.Hashes = nil, nil
	}
	p.scanSHA1(opt, m)
	if !reflect.DeepEqual(m, &want) {
		p.t.Errorf("scan with %+v differs:\n%+v\nwant\n%+v", opt, m, &want)
	}
}

// slowHashes returns what Scan does, in three lines.
func slowHashes(data []byte, length int) (hashes []byte) {
	for ; len(data) > 0; data = data[min(length, len(data)):] {
		sum := sha256.Sum256(data[:min(length, len(data))])
		hashes = append(hashes, sum[:]...)
	}
	return hashes
}

func TestScan(t *testing.T) {
	for name, c := range map[string]storetest.Content{
		"file":   single(t),
		"folder": tree(t),
		"empty":  storetest.Make(t, 1, storetest.File("", 0)),
		"none":   storetest.Make(t, 1),
		"order": storetest.Make(t, 1,
			storetest.Dir("a"), storetest.File("a/x", 3*piece+5), storetest.File("a-", 9), storetest.File("a.b", 8),
			storetest.Dir("a/s"), storetest.Link("a/s/up", "../../a-"), storetest.File("a/s/f", piece-1),
			storetest.File("z", 0)),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, c)
			p.Write(t, p.root)
			for _, workers := range []int{1, 7} {
				for _, length := range []uint32{0, piece, 4 * piece} {
					setCPUs(t, workers)
					p.scanEqual(store.ScanOptions{PieceLength: length})
				}
			}
			// Through a link.
			link := filepath.Join(filepath.Dir(p.root), "link", "content")
			p.ok(os.Mkdir(filepath.Dir(link), 0o700))
			p.ok(os.Symlink(p.root, link))
			m, err := store.Scan(t.Context(), link, store.ScanOptions{PieceLength: piece})
			p.ok(err)
			if !bytes.Equal(m.Hashes, c.Manifest.Hashes) || m.Name != "content" {
				t.Errorf("through a link: %+v", m)
			}
			d := p.got(store.Seed(p.dir, link, m, p.files))
			p.want(d, strings.Repeat("v", m.Pieces()))
			p.ok(d.Close())
			d = p.got(store.Open(p.dir, link, m, p.files))
			p.want(d, strings.Repeat("v", m.Pieces()))
			p.ok(d.Finish())
			if _, err := d.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("write to a seed: %v", err)
			}
			p.Verify(t, p.root)
		})
	}
}

func TestScanProgress(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	var last int64
	setCPUs(t, 3)
	p.scanEqual(store.ScanOptions{PieceLength: piece, Progress: func(done, total int64) {
		if done <= last || done > total || total != p.Manifest.Length() {
			t.Errorf("progress of %d of %d after %d", done, total, last)
		}
		last = done
	}})
	if last != p.Manifest.Length() {
		t.Errorf("progress ends at %d", last)
	}
}

func TestScanErrors(t *testing.T) {
	for _, test := range []struct {
		name, text string
		do         func(p *place) error
	}{
		{"link out", "leads out of the content", func(p *place) error { return os.Symlink("../x", p.path("l")) }},
		{"absolute link", "is absolute", func(p *place) error { return os.Symlink("/etc", p.path("l")) }},
		{"pipe", "is not a file, a directory or a symbolic link", func(p *place) error {
			return syscall.Mkfifo(p.path("l"), 0o600)
		}},
		{"closed empty file", "e: permission denied", func(p *place) error {
			if os.Geteuid() == 0 {
				p.t.Skip("root reads every file")
			}
			return os.WriteFile(p.path("e"), nil, 0)
		}},
		{"nothing", "no such file", func(p *place) error { return os.RemoveAll(p.root) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, tree(t))
			p.Write(t, p.root)
			p.ok(test.do(p))
			_, err := store.Scan(t.Context(), p.root, store.ScanOptions{})
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, want %q", err, test.text)
			}
		})
	}
}

// TestScanOfOddSizes scans files that have more bytes than their size says, or fewer.
func TestScanOfOddSizes(t *testing.T) {
	scan := func(path string) error {
		_, err := store.Scan(t.Context(), path, store.ScanOptions{})
		return err
	}
	t.Run("grows", func(t *testing.T) {
		p := newPlace(t, tree(t))
		p.Write(t, p.root)
		appended := false
		setCPUs(t, 1)
		_, err := store.Scan(t.Context(), p.root, store.ScanOptions{PieceLength: piece, Progress: func(int64, int64) {
			if !appended {
				appended = true
				f, err := os.OpenFile(p.path("b"), os.O_WRONLY|os.O_APPEND, 0)
				p.ok(err)
				_, err = f.WriteString("more")
				p.ok(errors.Join(err, f.Close()))
			}
		}})
		if err == nil || !strings.Contains(err.Error(), p.path("b")) {
			t.Errorf("%v", err)
		}
	})
	t.Run("proc", func(t *testing.T) {
		const path = "/proc/self/status"
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
		want := "has more than the 0 bytes of its size"
		if err := scan(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a file: %v", err)
		}
		dir := filepath.Join(t.TempDir(), "dir")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := scan(dir); err != nil {
			t.Errorf("a folder of files: %v", err)
		}
		if err := scan("/proc/self/net"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a folder: %v", err)
		}
	})
	t.Run("sys", func(t *testing.T) {
		const path = "/sys/kernel/mm/transparent_hugepage/enabled"
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Skip("no such file of a page")
		}
		if err := scan(path); err == nil || !strings.Contains(err.Error(), "ends before its 4096 bytes") {
			t.Errorf("%v", err)
		}
	})
}

func TestScanCancelled(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := store.Scan(ctx, p.root, store.ScanOptions{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestScanChanged(t *testing.T) {
	for _, do := range []func(string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		func(path string) error { return os.Chtimes(path, timeOf(0), timeOf(1)) },
	} {
		p := newPlace(t, tree(t))
		p.Write(t, p.root)
		setCPUs(t, 1)
		opt := store.ScanOptions{PieceLength: piece}
		opt.Progress = func(done, total int64) {
			if done == total {
				p.ok(do(p.path("b")))
			}
		}
		_, err := store.Scan(t.Context(), p.root, opt)
		var changed *store.ChangedError
		if !errors.As(err, &changed) || changed.Path != p.path("b") {
			t.Errorf("%v", err)
		}
		if _, err := p.seed(); !errors.As(err, &changed) || changed.Path != p.path("b") {
			t.Errorf("seed of a changed content: %v", err)
		}
	}
}

// TestScanTruncated truncates a file before its bytes are read.
func TestScanTruncated(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	setCPUs(t, 1)
	opt := store.ScanOptions{PieceLength: piece}
	opt.Progress = func(int64, int64) { p.ok(os.Truncate(p.path("b"), 1)) } // the first is of a/x
	_, err := store.Scan(t.Context(), p.root, opt)
	var changed *store.ChangedError
	if !errors.As(err, &changed) || changed.Path != p.path("b") {
		t.Errorf("%v", err)
	}
}
