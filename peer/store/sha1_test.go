package store_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// scanSHA1 checks that ScanSHA1 returns the same manifest as Scan, and the SHA-1 that a
// simple loop does.
func (p *place) scanSHA1(opt store.ScanOptions, want *proto.Manifest) {
	p.t.Helper()
	opt.Progress = nil
	m, sums, err := store.ScanSHA1(p.t.Context(), p.root, opt)
	p.ok(err)
	if !bytes.Equal(m.Hashes, want.Hashes) || len(m.Entries) != len(want.Entries) || m.PieceLength != want.PieceLength {
		p.t.Errorf("with SHA-1 the manifest is %+v, want %+v", m, want)
	}
	if !bytes.Equal(sums, slowSHA1(p.Data, int(want.PieceLength))) {
		p.t.Errorf("SHA-1 with %+v: %x", opt, sums)
	}
}

func slowSHA1(data []byte, length int) (sums []byte) {
	for ; len(data) > 0; data = data[min(length, len(data)):] {
		sum := sha1.Sum(data[:min(length, len(data))])
		sums = append(sums, sum[:]...)
	}
	return sums
}

func TestScanSHA1(t *testing.T) {
	for name, p := range map[string]*place{
		"folder": newPlace(t, tree(t)),
		"file":   newPlace(t, single(t)),
		"holes":  sparse(t, [][2]int64{{piece, 3 * piece}}, storetest.File("", 5*piece+9)),
		"empty":  newPlace(t, storetest.Make(t, 1, storetest.File("", 0))),
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			if name != "holes" {
				p.Write(t, p.root)
			}
			p.scanSHA1(store.ScanOptions{PieceLength: piece}, p.Manifest)
		})
	}
	if _, _, err := store.ScanSHA1(t.Context(), filepath.Join(t.TempDir(), "none"), store.ScanOptions{}); err == nil {
		t.Error("scan of no file: no error")
	}
}

// TestScanAccept checks that nothing is read if Accept fails.
func TestScanAccept(t *testing.T) {
	p := newPlace(t, tree(t))
	p.Write(t, p.root)
	no := errors.New("no")
	opt := store.ScanOptions{
		Accept: func(m *proto.Manifest) error {
			if m.Length() != p.Manifest.Length() || len(m.Entries) != len(p.Manifest.Entries) {
				t.Errorf("accept of %+v", m)
			}
			return no
		},
		Progress: func(int64, int64) { t.Error("it is read") },
	}
	if _, _, err := store.ScanSHA1(t.Context(), p.root, opt); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkScanSHA1 shows, next to BenchmarkScan/large, the cost of the second hash.
func BenchmarkScanSHA1(b *testing.B) {
	c := storetest.Make(b, 1, storetest.File("", 256<<20))
	root := filepath.Join(b.TempDir(), "content")
	(&place{Content: c, t: b}).Write(b, root)
	b.SetBytes(int64(len(c.Data)))
	for b.Loop() {
		if _, _, err := store.ScanSHA1(b.Context(), root, store.ScanOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
