package storetest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// blockSize cuts no file and no piece evenly.
const blockSize = 100_003

// Harness creates the stores of one implementation.
type Harness struct {
	// New creates an empty store.
	New func(t *testing.T, m *proto.Manifest) store.Store
	// Reopen opens a closed store again. It is nil if nothing outlives Close.
	Reopen func(t *testing.T, closed store.Store) store.Store
}

// Run checks that the stores of h satisfy the contract of [store.Store].
func Run(t *testing.T, h Harness) {
	contents := map[string]Content{
		"file":  Make(t, 1, File("", 5*PieceLength+17)),
		"tree":  Make(t, 2, tree()...),
		"empty": Make(t, 3, File("", 0)),
		"none":  Make(t, 4),
		// Torrents have an order of their own, and padding.
		"torrent":      MakeTorrent(t, 5, torrent()...),
		"torrent file": MakeTorrent(t, 6, Untimed(File("", 9*proto.MinPieceLength+1))...),
	}
	for name, c := range contents {
		t.Run(name, func(t *testing.T) {
			t.Run("transfer", func(t *testing.T) { transfer(t, h, c) })
			t.Run("reads", func(t *testing.T) { reads(t, h, c) })
			t.Run("bounds", func(t *testing.T) { bounds(t, h, c) })
			if len(c.Data) > 0 {
				t.Run("verified", func(t *testing.T) { verified(t, h, c) })
				t.Run("has", func(t *testing.T) { has(t, h, c) })
				t.Run("concurrent", func(t *testing.T) { concurrent(t, h, c) })
				t.Run("padding", func(t *testing.T) { padding(t, h, c) })
			}
			if h.Reopen != nil {
				t.Run("reopen", func(t *testing.T) { reopen(t, h, c) })
			}
		})
	}
}

// tree has files smaller than a piece, and larger.
func tree() []proto.Entry {
	return []proto.Entry{
		Dir("a"), File("a/empty", 0), File("a/large", 3*PieceLength), File("a/one", 1),
		Dir("b"), Dir("b/none"), Link("b/up", "../a/large"),
		File("b-", 70_000), File("c", PieceLength-1), File("d", 300_000),
	}
}

// torrent has files out of order, and padding within pieces, across two, at their ends,
// and between files that share one.
func torrent() []proto.Entry {
	const piece = proto.MinPieceLength
	return Untimed(
		Dir("z"), File("z/last first", 3*piece+5), Pad(piece-5), File("b", 70_000), File("a", 1), Pad(9), File("a-", 0),
		Dir("z/in"), Dir("z/in/in"), File("z/in/in/x", piece), Pad(piece-1), Pad(3), Pad(0),
		File("0", 2), File("z/y", 40_000), Pad(77),
	)
}

// put writes pieces in blocks, in random order, and commits them, each twice.
func put(t *testing.T, s store.Store, c Content, pieces []int) {
	t.Helper()
	var offsets []int64
	for _, i := range pieces {
		for at := 0; at < c.Manifest.PieceSize(i); at += blockSize {
			offsets = append(offsets, c.Manifest.PieceOffset(i)+int64(at))
		}
	}
	rand.Shuffle(len(offsets), func(i, j int) { offsets[i], offsets[j] = offsets[j], offsets[i] })
	for _, at := range offsets {
		piece := int(at / int64(c.Manifest.PieceLength))
		end := min(at+blockSize, c.Manifest.PieceOffset(piece)+int64(c.Manifest.PieceSize(piece)))
		if n, err := s.WriteAt(c.Data[at:end], at); n != int(end-at) || err != nil {
			t.Fatalf("write of %d at %d: %d, %v", end-at, at, n, err)
		}
	}
	for _, i := range pieces {
		check(t, s.Commit(i))
		check(t, s.Commit(i))
		if !s.Has(i) {
			t.Errorf("does not have piece %d after Commit", i)
		}
	}
}

func newStore(t *testing.T, h Harness, c Content) store.Store {
	s := h.New(t, c.Manifest)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func transfer(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	if err := s.Finish(); len(c.Data) > 0 && !errors.Is(err, store.ErrNotWhole) {
		t.Fatalf("finish of an empty store: %v", err)
	}
	put(t, s, c, rand.Perm(c.Manifest.Pieces()))
	check(t, s.Publish())
	check(t, s.Publish())
	check(t, s.Finish())
	check(t, s.Finish())
	if _, err := s.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write after finish: %v", err)
	}
	got := make([]byte, len(c.Data))
	if n, err := s.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF || !bytes.Equal(got, c.Data) {
		t.Errorf("read of all: %d, %v", n, err)
	}
	for i := range c.Manifest.Pieces() {
		if good, err := store.NewVerifier(c.Manifest).Check(s, i); !good || err != nil {
			t.Errorf("piece %d: %v, %v", i, good, err)
		}
	}
}

func reads(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	put(t, s, c, rand.Perm(c.Manifest.Pieces()))
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		from := random.IntN(len(c.Data) + 1)
		part := c.Data[from : from+random.IntN(len(c.Data)-from+1)]
		got := make([]byte, len(part))
		if n, err := s.ReadAt(got, int64(from)); n != len(part) || err != nil && err != io.EOF || !bytes.Equal(got, part) {
			t.Fatalf("read of %d at %d: %d, %v", len(part), from, n, err)
		}
	}
}

func bounds(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	end := int64(len(c.Data))
	if _, err := s.WriteAt([]byte{1, 2}, end-1); err == nil {
		t.Error("write past the end: no error")
	}
	if _, err := s.WriteAt([]byte{1}, -1); err == nil {
		t.Error("write before the start: no error")
	}
	if _, err := s.ReadAt([]byte{1}, -1); err == nil || err == io.EOF {
		t.Errorf("read before the start: %v", err)
	}
	if n, err := s.ReadAt([]byte{1}, end); n != 0 || err != io.EOF {
		t.Errorf("read at the end: %d, %v", n, err)
	}
	for _, piece := range []int{-1, c.Manifest.Pieces()} {
		if s.Commit(piece) == nil || s.Forget(piece) == nil || s.Has(piece) {
			t.Errorf("accepts piece %d of %d", piece, c.Manifest.Pieces())
		}
	}
}

// verified checks that a committed piece cannot be written until it is forgotten.
func verified(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	put(t, s, c, []int{0})
	if _, err := s.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrVerified) {
		t.Errorf("write to a verified piece: %v", err)
	}
	if good, err := store.NewVerifier(c.Manifest).Check(s, 0); !good || err != nil {
		t.Errorf("verified piece: %v, %v", good, err)
	}
	check(t, s.Forget(0))
	check(t, s.Forget(0))
	if _, err := s.WriteAt([]byte{^c.Data[0]}, 0); err != nil {
		t.Errorf("write to a forgotten piece: %v", err)
	}
	if good, err := store.NewVerifier(c.Manifest).Check(s, 0); good || err != nil {
		t.Errorf("overwritten piece: %v, %v", good, err)
	}
	if err := s.Finish(); !errors.Is(err, store.ErrNotWhole) {
		t.Errorf("finish without the piece: %v", err)
	}
	put(t, s, c, rand.Perm(c.Manifest.Pieces()))
	check(t, s.Finish())
}

// has checks Has and Count through a transfer, and after it.
func has(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	wantPieces(t, s, c, nil)
	order := rand.Perm(c.Manifest.Pieces())
	for n, i := range order {
		_, err := s.WriteAt(c.Piece(i), c.Manifest.PieceOffset(i))
		check(t, err)
		if s.Has(i) {
			t.Errorf("has piece %d before Commit", i)
		}
		check(t, s.Commit(i))
		wantPieces(t, s, c, order[:n+1])
	}
	check(t, s.Forget(order[0]))
	wantPieces(t, s, c, order[1:])
	check(t, s.Commit(order[0]))
	check(t, s.Finish())
	check(t, s.Forget(order[0]))
	wantPieces(t, s, c, order[1:])
	put(t, s, c, order[:1]) // a content that was whole is repaired
	check(t, s.Finish())
	check(t, s.Forget(order[0]))
	check(t, s.Close())
	wantPieces(t, s, c, order[1:])
	if s.Forget(order[1]) == nil {
		t.Error("forget after close: no error")
	}
	wantPieces(t, s, c, order[2:])
}

// concurrent writes and reads different pieces at the same time.
func concurrent(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	var group sync.WaitGroup
	for i := range c.Manifest.Pieces() {
		group.Go(func() {
			if _, err := s.WriteAt(c.Piece(i), c.Manifest.PieceOffset(i)); err != nil {
				t.Error(err)
			}
			for j := range c.Manifest.Pieces() {
				if s.Has(j) && s.Count() == 0 {
					t.Error("has a piece but counts none")
				}
			}
			if err := s.Commit(i); err != nil {
				t.Error(err)
			}
			if good, err := store.NewVerifier(c.Manifest).Check(s, i); !good || err != nil {
				t.Errorf("piece %d: %v, %v", i, good, err)
			}
		})
	}
	group.Wait()
	check(t, s.Finish())
}

// padding checks that writes to padding are dropped.
func padding(t *testing.T, h Harness, c Content) {
	s := newStore(t, h, c)
	offset := int64(0)
	for _, e := range c.Manifest.Entries {
		if e.Kind == proto.Pad && e.Size > 0 {
			// Together with the last byte of the file before it.
			garbage := bytes.Repeat([]byte{1}, int(e.Size)+1)
			if n, err := s.WriteAt(garbage, offset-1); n != len(garbage) || err != nil {
				t.Fatalf("write to padding: %d, %v", n, err)
			}
			if n, err := s.ReadAt(garbage, offset-1); n != len(garbage) || err != nil && err != io.EOF {
				t.Fatalf("read of padding: %d, %v", n, err)
			}
			if !bytes.Equal(garbage[1:], make([]byte, e.Size)) {
				t.Errorf("padding of %d bytes at %d is not zeros", e.Size, offset)
			}
		}
		offset += e.Size
	}
	put(t, s, c, rand.Perm(c.Manifest.Pieces()))
	check(t, s.Finish())
	got := make([]byte, len(c.Data))
	if n, err := s.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF || !bytes.Equal(got, c.Data) {
		t.Errorf("read of all: %d, %v", n, err)
	}
}

// reopen closes and reopens the store twice during a transfer, and after it.
func reopen(t *testing.T, h Harness, c Content) {
	order := rand.Perm(c.Manifest.Pieces())
	half := order[:len(order)/2]
	s := h.New(t, c.Manifest)
	put(t, s, c, order)
	for _, i := range order[len(half):] {
		check(t, s.Forget(i))
	}
	check(t, s.Close())
	if err := s.Finish(); err == nil {
		t.Error("finish after close: no error")
	}
	s = again(t, h, s, c, half)
	put(t, s, c, order[len(half):])
	check(t, s.Close())
	s = again(t, h, s, c, order)
	check(t, s.Finish())
	check(t, s.Close())
	s = again(t, h, s, c, order)
	if _, err := s.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write after finish: %v", err)
	}
	check(t, s.Finish())
	check(t, s.Close())
}

// again reopens s and checks that it has just those pieces.
func again(t *testing.T, h Harness, s store.Store, c Content, pieces []int) store.Store {
	t.Helper()
	s = h.Reopen(t, s)
	for _, i := range pieces {
		if good, err := store.NewVerifier(c.Manifest).Check(s, i); !good || err != nil {
			t.Errorf("piece %d after reopening: %v, %v", i, good, err)
		}
	}
	wantPieces(t, s, c, pieces)
	return s
}

// wantPieces checks that s has those pieces and no others.
func wantPieces(t *testing.T, s store.Store, c Content, pieces []int) {
	t.Helper()
	for i := range c.Manifest.Pieces() {
		if got, want := s.Has(i), slices.Contains(pieces, i); got != want {
			t.Errorf("has piece %d: %v, want %v", i, got, want)
		}
	}
	if s.Count() != len(pieces) {
		t.Errorf("count is %d, want %d", s.Count(), len(pieces))
	}
}
