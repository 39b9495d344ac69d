package store_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"os"
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

func TestSHA1(t *testing.T) {
	for name, p := range map[string]*place{
		"folder": newPlace(t, folder(t)),
		"file":   newPlace(t, single(t)),
		"holes":  sparse(t, [][2]int64{{piece, 3 * piece}}, storetest.File("", 5*piece+9)),
		"empty":  newPlace(t, storetest.Make(t, 1, storetest.File("", 0))),
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			if name != "holes" {
				p.Write(t, p.root)
			}
			d := p.got(p.seed())
			var last int64
			sums, err := store.SHA1(t.Context(), d, p.Manifest, store.ScanOptions{Progress: func(done, _ int64) { last = done }})
			p.ok(err)
			if !bytes.Equal(sums, slowSHA1(p.Data, piece)) {
				t.Errorf("got %x", sums)
			}
			if last != p.Manifest.Length() {
				t.Errorf("progress ends at %d", last)
			}
		})
	}
}

func TestSHA1OfMemory(t *testing.T) {
	c := single(t)
	sums, err := store.SHA1(t.Context(), bytes.NewReader(c.Data), c.Manifest, store.ScanOptions{Workers: 1})
	if err != nil || !bytes.Equal(sums, slowSHA1(c.Data, piece)) {
		t.Errorf("%x, %v", sums, err)
	}
}

func TestSHA1OfTorrent(t *testing.T) {
	c := torrent(t)
	sums, err := store.SHA1(t.Context(), bytes.NewReader(c.Data), c.Manifest, store.ScanOptions{})
	if err != nil || !bytes.Equal(sums, slowSHA1(c.Data, torrentPiece)) {
		t.Errorf("%x, %v", sums, err)
	}
}

func TestSHA1Errors(t *testing.T) {
	p := newPlace(t, single(t))
	p.Write(t, p.root)
	d := p.got(p.seed())
	f, err := os.OpenFile(p.root, os.O_WRONLY, 0)
	p.ok(err)
	_, err = f.WriteAt([]byte{p.Data[piece+1] + 1}, piece+1)
	p.ok(err)
	p.ok(f.Close())
	var damaged *store.DamagedError
	_, err = store.SHA1(t.Context(), d, p.Manifest, store.ScanOptions{})
	if !errors.As(err, &damaged) || damaged.Piece != 1 {
		t.Errorf("changed content: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.SHA1(ctx, d, p.Manifest, store.ScanOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := store.ScanSHA1(t.Context(), filepath.Join(p.root, "none"), store.ScanOptions{}); err == nil {
		t.Error("scan of no file: no error")
	}
}

// TestScanAccept checks that nothing is read if Accept fails.
func TestScanAccept(t *testing.T) {
	p := newPlace(t, folder(t))
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
	c.Write(b, root)
	b.SetBytes(int64(len(c.Data)))
	for b.Loop() {
		if _, _, err := store.ScanSHA1(b.Context(), root, store.ScanOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
