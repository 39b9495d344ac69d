package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// verify passes pieces to v, each in two parts, and reports whether all are good.
func verify(v *store.Verifier, c storetest.Content, pieces ...int) (good bool) {
	good = true
	for _, i := range pieces {
		h, b := v.NewHash(), c.Piece(i)
		h.Write(b[:len(b)/3])
		h.Write(b[len(b)/3:])
		good = v.Verify(i, h) && good
	}
	return good
}

// reads counts the bytes read of each piece.
type reads struct {
	c      storetest.Content
	pieces []atomic.Int64
}

func newReads(c storetest.Content) *reads {
	return &reads{c, make([]atomic.Int64, c.Manifest.Pieces())}
}

func (r *reads) ReadAt(p []byte, offset int64) (int, error) {
	r.pieces[offset/int64(r.c.Manifest.PieceLength)].Add(int64(len(p)))
	return bytes.NewReader(r.c.Data).ReadAt(p, offset)
}

// fullManifest returns the manifest with SHA-256 of a torrent's content.
func fullManifest(c storetest.Content) *proto.Manifest {
	m := *c.Manifest
	m.SHA1, m.Hashes = nil, c.SHA256()
	return &m
}

// encoded returns the encoding of m.
func encoded(t *testing.T, m *proto.Manifest) []byte {
	t.Helper()
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFullManifest(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	if !verify(v, c, 2, 10, 0) {
		t.Error("good pieces are not good")
	}
	bad := storetest.Content{Manifest: c.Manifest, Data: bytes.Repeat([]byte{1}, len(c.Data))}
	if verify(v, bad, 5) {
		t.Error("a bad piece is good")
	}
	r := newReads(c)
	var last, total int64
	m, err := v.FullManifest(t.Context(), r, store.ScanOptions{Progress: func(done, of int64) { last, total = done, of }})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, m), encoded(t, fullManifest(c))) {
		t.Errorf("got %+v", m)
	}
	var want int64
	for i := range r.pieces {
		n := int64(c.Manifest.PieceSize(i))
		if slices.Contains([]int{2, 10, 0}, i) {
			n = 0
		}
		if got := r.pieces[i].Load(); got != n {
			t.Errorf("read %d bytes of piece %d, want %d", got, i, n)
		}
		want += n
	}
	if last != want || total != want {
		t.Errorf("progress ends at %d of %d, want %d", last, total, want)
	}
	again, err := v.FullManifest(t.Context(), nil, store.ScanOptions{}) // reads nothing
	if err != nil || !bytes.Equal(encoded(t, again), encoded(t, m)) {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestFullManifestOfDisk has pieces in holes, pieces that a restart rechecks, and one
// that was verified before it.
func TestFullManifestOfDisk(t *testing.T) {
	p := newPlace(t, torrent(t))
	p.Write(t, p.root)
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	v := store.NewVerifier(p.Manifest)
	doubtful := d.Doubtful()
	doubtful[4] = false
	p.ok(store.Recheck(t.Context(), d, v, doubtful, nil))
	p.put(d, 4)
	p.ok(d.Finish())
	var read int64
	m, err := v.FullManifest(t.Context(), d, store.ScanOptions{Progress: func(done, _ int64) { read = done }})
	p.ok(err)
	if !bytes.Equal(encoded(t, m), encoded(t, fullManifest(p.Content))) {
		t.Errorf("got %+v", m)
	}
	if read != torrentPiece {
		t.Errorf("read %d bytes, want one piece", read)
	}
}

func TestFullManifestErrors(t *testing.T) {
	p := newPlace(t, torrent(t))
	d := p.create()
	p.putMissing(d)
	p.ok(d.Finish())
	p.ok(os.WriteFile(p.path("z"), []byte("changed"), 0o600))
	v := store.NewVerifier(p.Manifest)
	var damaged *store.DamagedError
	if _, err := v.FullManifest(t.Context(), d, store.ScanOptions{}); !errors.As(err, &damaged) || damaged.Piece != 10 {
		t.Errorf("changed content: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.FullManifest(ctx, d, store.ScanOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestVerifierSHA256(t *testing.T) {
	c := single(t)
	v := store.NewVerifier(c.Manifest)
	bad := storetest.Content{Manifest: c.Manifest, Data: make([]byte, len(c.Data))}
	if !verify(v, c, 0) || verify(v, bad, 0) {
		t.Error("a good piece is bad, or a bad one good")
	}
	if m, err := v.FullManifest(t.Context(), nil, store.ScanOptions{}); m != c.Manifest || err != nil {
		t.Errorf("got %+v, %v", m, err)
	}
	if err := v.Compare(c.Manifest); err == nil {
		t.Error("accepts another manifest")
	}
}

func TestCompare(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	if err := v.Compare(fullManifest(c)); err == nil {
		t.Error("accepts a manifest before the pieces are known")
	}
	if _, err := v.FullManifest(t.Context(), bytes.NewReader(c.Data), store.ScanOptions{}); err != nil {
		t.Fatal(err)
	}
	// As of a seed: with modes, times, links and directories that torrents lack.
	rich := fullManifest(c)
	rich.Entries = slices.Concat(rich.Entries, []proto.Entry{storetest.Dir("more"), storetest.Link("up", "b")})
	rich.Entries[1].Mode, rich.Entries[1].MTime = 0o600, 5
	if err := v.Compare(rich); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*proto.Manifest){
		"name":   func(m *proto.Manifest) { m.Name = "x" },
		"path":   func(m *proto.Manifest) { m.Entries[1].Path = "s/x" },
		"order":  func(m *proto.Manifest) { m.Entries[1], m.Entries[2] = m.Entries[2], m.Entries[1] },
		"length": func(m *proto.Manifest) { m.Entries[1].Size-- },
		"pieces": func(m *proto.Manifest) { m.PieceLength *= 2 },
		"more":   func(m *proto.Manifest) { m.Entries = append(m.Entries, storetest.File("more", 0)) },
		"SHA-1":  func(m *proto.Manifest) { m.SHA1, m.Hashes = c.Manifest.SHA1, nil },
		"hash":   func(m *proto.Manifest) { m.Hashes[3*sha256.Size]++ },
		"last":   func(m *proto.Manifest) { m.Hashes[10*sha256.Size]++ },
	} {
		m := fullManifest(c)
		m.Entries, m.Hashes = slices.Clone(m.Entries), slices.Clone(m.Hashes)
		change(m)
		if err := v.Compare(m); err == nil {
			t.Errorf("accepts a manifest with another %s", name)
		}
	}
}

func TestVerifierConcurrently(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	var group sync.WaitGroup
	for i := range 3 * c.Manifest.Pieces() {
		group.Go(func() {
			if !verify(v, c, i%c.Manifest.Pieces()) {
				t.Errorf("piece %d is bad", i)
			}
		})
	}
	group.Wait()
	m, err := v.FullManifest(t.Context(), nil, store.ScanOptions{})
	if err != nil || !bytes.Equal(encoded(t, m), encoded(t, fullManifest(c))) {
		t.Errorf("got %+v, %v", m, err)
	}
}
