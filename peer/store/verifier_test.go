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

// show lets v see a piece as it comes in, in two parts.
func show(v *store.Verifier, c storetest.Content, pieces ...int) (good bool) {
	good = true
	for _, i := range pieces {
		h, b := v.NewHash(), c.Piece(i)
		h.Write(b[:len(b)/3])
		h.Write(b[len(b)/3:])
		good = v.Verify(i, h) && good
	}
	return good
}

// reads counts what is read of each piece.
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

// published is the manifest that c's torrent ends with.
func published(c storetest.Content) *proto.Manifest {
	m := *c.Manifest
	m.SHA1, m.Hashes = nil, c.SHA256()
	return &m
}

// encoded is what others get of m.
func encoded(t *testing.T, m *proto.Manifest) []byte {
	t.Helper()
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPublish(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	if !show(v, c, 2, 10, 0) {
		t.Error("good pieces are not good")
	}
	spoilt := storetest.Content{Manifest: c.Manifest, Data: bytes.Repeat([]byte{1}, len(c.Data))}
	if show(v, spoilt, 5) {
		t.Error("a bad piece is good")
	}
	r := newReads(c)
	var last, total int64
	m, err := v.Publish(t.Context(), r, store.ScanOptions{Progress: func(done, of int64) { last, total = done, of }})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, m), encoded(t, published(c))) {
		t.Errorf("got %+v", m)
	}
	var want int64
	for i := range r.pieces {
		n := int64(c.Manifest.PieceSize(i))
		if slices.Contains([]int{2, 10, 0}, i) {
			n = 0
		}
		if got := r.pieces[i].Load(); got != n {
			t.Errorf("%d bytes of piece %d were read, want %d", got, i, n)
		}
		want += n
	}
	if last != want || total != want {
		t.Errorf("progress ends at %d of %d, want %d", last, total, want)
	}
	again, err := v.Publish(t.Context(), nil, store.ScanOptions{}) // reads nothing any more
	if err != nil || !bytes.Equal(encoded(t, again), encoded(t, m)) {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestPublishOfDisk leaves pieces to holes and to the recheck of a restart.
func TestPublishOfDisk(t *testing.T) {
	p := newPlace(t, torrent(t))
	p.Write(t, p.root)
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	v := store.NewVerifier(p.Manifest)
	doubtful := d.Doubtful()
	doubtful[4] = false
	p.ok(store.Recheck(t.Context(), d, v, doubtful, nil))
	p.put(d, 4) // as one that was good before a restart
	p.ok(d.Finish())
	var read int64
	m, err := v.Publish(t.Context(), d, store.ScanOptions{Progress: func(done, _ int64) { read = done }})
	p.ok(err)
	if !bytes.Equal(encoded(t, m), encoded(t, published(p.Content))) {
		t.Errorf("got %+v", m)
	}
	if read != torrentPiece {
		t.Errorf("%d bytes read, want one piece", read)
	}
}

func TestPublishRefuses(t *testing.T) {
	p := newPlace(t, torrent(t))
	d := p.create()
	p.putMissing(d)
	p.ok(d.Finish())
	p.ok(os.WriteFile(p.path("z"), []byte("changed"), 0o600))
	v := store.NewVerifier(p.Manifest)
	var damaged *store.DamagedError
	if _, err := v.Publish(t.Context(), d, store.ScanOptions{}); !errors.As(err, &damaged) || damaged.Piece != 10 {
		t.Errorf("of a changed content: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Publish(ctx, d, store.ScanOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// With SHA-256 there is nothing to make.
func TestPublishOrdinary(t *testing.T) {
	c := single(t)
	v := store.NewVerifier(c.Manifest)
	if !show(v, c, 0) || show(v, storetest.Content{Manifest: c.Manifest, Data: make([]byte, len(c.Data))}, 0) {
		t.Error("a good piece is bad, or a bad one good")
	}
	if m, err := v.Publish(t.Context(), nil, store.ScanOptions{}); m != c.Manifest || err != nil {
		t.Errorf("got %+v, %v", m, err)
	}
	if err := v.Expect(c.Manifest, nil); err == nil {
		t.Error("another manifest is taken")
	}
}

func TestExpect(t *testing.T) {
	c := torrent(t)
	// The one of a seed: with modes, times, links and folders that torrents lack.
	rich := published(c)
	rich.Entries = slices.Concat(rich.Entries, []proto.Entry{storetest.Dir("more"), storetest.Link("up", "b")})
	rich.Entries[1].Mode, rich.Entries[1].MTime = 0o600, 5
	wrong := func(piece int) *proto.Manifest {
		m := published(c)
		m.Hashes = bytes.Clone(m.Hashes)
		m.Hashes[piece*sha256.Size]++
		return m
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

	t.Run("agrees", func(t *testing.T) {
		v := store.NewVerifier(c.Manifest)
		show(v, c, all[:5]...)
		if err := v.Expect(rich, func(piece int) { t.Errorf("refuted by piece %d", piece) }); err != nil {
			t.Fatal(err)
		}
		show(v, c, all[5:8]...)
		if m, err := v.Publish(t.Context(), bytes.NewReader(c.Data), store.ScanOptions{}); m != rich || err != nil {
			t.Errorf("got %+v, %v", m, err)
		}
	})
	t.Run("refuted before", func(t *testing.T) {
		v := store.NewVerifier(c.Manifest)
		show(v, c, all[:5]...)
		var refuted *store.RefutedError
		if err := v.Expect(wrong(3), nil); !errors.As(err, &refuted) || refuted.Piece != 3 || v.Expected() != nil {
			t.Errorf("%v", err)
		}
	})
	t.Run("refuted as it comes", func(t *testing.T) {
		v, by := store.NewVerifier(c.Manifest), []int{}
		liar := wrong(3)
		copy(liar.Hashes[8*sha256.Size:], liar.Hashes[:32])
		if err := v.Expect(liar, func(piece int) { by = append(by, piece) }); err != nil {
			t.Fatal(err)
		}
		if !show(v, c, all...) {
			t.Error("a piece is bad for what the liar says")
		}
		if !slices.Equal(by, []int{3}) || v.Expected() != nil {
			t.Errorf("refuted by %v", by)
		}
		// Another may have its turn.
		if err := v.Expect(rich, nil); err != nil || v.Expected() != rich {
			t.Error(err)
		}
	})
	t.Run("refuted at the end", func(t *testing.T) {
		v, by := store.NewVerifier(c.Manifest), -1
		if err := v.Expect(wrong(9), func(piece int) { by = piece }); err != nil {
			t.Fatal(err)
		}
		m, err := v.Publish(t.Context(), bytes.NewReader(c.Data), store.ScanOptions{})
		if err != nil || by != 9 || !bytes.Equal(encoded(t, m), encoded(t, published(c))) {
			t.Errorf("got %+v, %v, refuted by %d", m, err, by)
		}
	})
	t.Run("a bad piece refutes nothing", func(t *testing.T) {
		v := store.NewVerifier(c.Manifest)
		if err := v.Expect(rich, nil); err != nil {
			t.Fatal(err)
		}
		if show(v, storetest.Content{Manifest: c.Manifest, Data: bytes.Repeat([]byte{1}, len(c.Data))}, all...) || v.Expected() != rich {
			t.Error("bad pieces are good, or the manifest lost for them")
		}
	})
	t.Run("of other files", func(t *testing.T) {
		for name, spoil := range map[string]func(*proto.Manifest){
			"name":   func(m *proto.Manifest) { m.Name = "x" },
			"path":   func(m *proto.Manifest) { m.Entries[1].Path = "s/x" },
			"order":  func(m *proto.Manifest) { m.Entries[1], m.Entries[2] = m.Entries[2], m.Entries[1] },
			"length": func(m *proto.Manifest) { m.Entries[1].Size-- },
			"pieces": func(m *proto.Manifest) { m.PieceLength *= 2 },
			"more":   func(m *proto.Manifest) { m.Entries = append(m.Entries, storetest.File("more", 0)) },
			"SHA-1":  func(m *proto.Manifest) { m.SHA1, m.Hashes = c.Manifest.SHA1, nil },
		} {
			m := published(c)
			m.Entries = slices.Clone(m.Entries)
			spoil(m)
			if err := store.NewVerifier(c.Manifest).Expect(m, nil); err == nil {
				t.Errorf("with another %s it is taken", name)
			}
		}
	})
}

// TestVerifierTogether has pieces come in while manifests are told of: whatever the
// order, the liars are found out, each once.
func TestVerifierTogether(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	liar := published(c)
	liar.Hashes = make([]byte, len(liar.Hashes))
	var told, taken atomic.Int64
	var group sync.WaitGroup
	for i := range c.Manifest.Pieces() {
		group.Go(func() {
			if !show(v, c, i) {
				t.Errorf("piece %d is bad", i)
			}
		})
		group.Go(func() {
			if v.Expect(liar, func(int) { told.Add(1) }) == nil {
				taken.Add(1)
			}
		})
	}
	group.Wait()
	m, err := v.Publish(t.Context(), nil, store.ScanOptions{})
	if err != nil || !bytes.Equal(encoded(t, m), encoded(t, published(c))) {
		t.Errorf("got %+v, %v", m, err)
	}
	if v.Expected() != nil || told.Load() > taken.Load() || taken.Load() > 0 && told.Load() == 0 {
		t.Errorf("taken %d times, refuted %d times", taken.Load(), told.Load())
	}
}
