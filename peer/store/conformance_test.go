package store_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// blockSize cuts no file and no piece evenly.
const blockSize = 100_003

// harness creates the stores of one implementation.
type harness struct {
	// New creates an empty store.
	New func(t *testing.T, m *proto.Manifest) store.Store
	// Reopen opens a closed store again. It is nil for stores of a single file that cannot be opened again.
	Reopen func(t *testing.T, closed store.Store) store.Store
}

// conforms checks that the stores of h satisfy the contract of [store.Store].
func conforms(t *testing.T, h harness) {
	contents := map[string]storetest.Content{
		"file":  storetest.Make(t, 1, storetest.File("", 5*storetest.PieceLength+17)),
		"tree":  storetest.Make(t, 2, conformTree()...),
		"empty": storetest.Make(t, 3, storetest.File("", 0)),
		"none":  storetest.Make(t, 4),
		// Torrents have a separate order, and padding.
		"torrent":      storetest.MakeTorrent(t, 5, conformTorrent()...),
		"torrent file": storetest.MakeTorrent(t, 6, storetest.Untimed(storetest.File("", 9*proto.MinPieceLength+1))...),
	}
	for name, c := range contents {
		t.Run(name, func(t *testing.T) {
			if e := c.Manifest.Entries; h.Reopen == nil && (len(e) != 1 || e[0].Path != "") {
				t.Skip("not a single file")
			}
			t.Run("transfer", func(t *testing.T) { conformTransfer(t, h, c) })
			t.Run("reads", func(t *testing.T) { conformReads(t, h, c) })
			t.Run("bounds", func(t *testing.T) { conformBounds(t, h, c) })
			if len(c.Data) > 0 {
				t.Run("verified", func(t *testing.T) { conformVerified(t, h, c) })
				t.Run("has", func(t *testing.T) { conformHas(t, h, c) })
				t.Run("concurrent", func(t *testing.T) { conformConcurrent(t, h, c) })
				t.Run("padding", func(t *testing.T) { conformPadding(t, h, c) })
			}
			if h.Reopen != nil {
				t.Run("reopen", func(t *testing.T) { conformReopen(t, h, c) })
			}
		})
	}
}

// conformTree has files smaller than a piece, and larger.
func conformTree() []proto.Entry {
	return []proto.Entry{
		storetest.Dir("a"), storetest.File("a/empty", 0), storetest.File("a/large", 3*storetest.PieceLength), storetest.File("a/one", 1),
		storetest.Dir("b"), storetest.Dir("b/none"), storetest.Link("b/up", "../a/large"),
		storetest.File("b-", 70_000), storetest.File("c", storetest.PieceLength-1), storetest.File("d", 300_000),
	}
}

// conformTorrent has files out of order, and padding within pieces, across two, at their ends,
// and between files that share one.
func conformTorrent() []proto.Entry {
	const piece = proto.MinPieceLength
	return storetest.Untimed(
		storetest.Dir("z"), storetest.File("z/last first", 3*piece+5), storetest.Pad(piece-5), storetest.File("b", 70_000), storetest.File("a", 1), storetest.Pad(9), storetest.File("a-", 0),
		storetest.Dir("z/in"), storetest.Dir("z/in/in"), storetest.File("z/in/in/x", piece), storetest.Pad(piece-1), storetest.Pad(3), storetest.Pad(0),
		storetest.File("0", 2), storetest.File("z/y", 40_000), storetest.Pad(77),
	)
}

// conformPut writes pieces in blocks, in random order, and commits them, each twice.
func conformPut(t *testing.T, s store.Store, c storetest.Content, pieces []int) {
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
		conformCheck(t, s.Commit(i))
		conformCheck(t, s.Commit(i))
		if !s.Has(i) {
			t.Errorf("does not have piece %d after Commit", i)
		}
	}
}

func conformNewStore(t *testing.T, h harness, c storetest.Content) store.Store {
	s := h.New(t, c.Manifest)
	t.Cleanup(func() { conformCheck(t, s.Close()) })
	return s
}

func conformTransfer(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
	if err := s.Finish(); len(c.Data) > 0 && !errors.Is(err, store.ErrNotWhole) {
		t.Fatalf("finish of an empty store: %v", err)
	}
	conformPut(t, s, c, rand.Perm(c.Manifest.Pieces()))
	conformCheck(t, s.Publish())
	conformCheck(t, s.Publish())
	conformCheck(t, s.Finish())
	conformCheck(t, s.Finish())
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

func conformReads(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
	conformPut(t, s, c, rand.Perm(c.Manifest.Pieces()))
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

func conformBounds(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
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

// conformVerified checks that a committed piece cannot be written until it is forgotten.
func conformVerified(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
	conformPut(t, s, c, []int{0})
	if _, err := s.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrVerified) {
		t.Errorf("write to a verified piece: %v", err)
	}
	if good, err := store.NewVerifier(c.Manifest).Check(s, 0); !good || err != nil {
		t.Errorf("verified piece: %v, %v", good, err)
	}
	conformCheck(t, s.Forget(0))
	conformCheck(t, s.Forget(0))
	if _, err := s.WriteAt([]byte{^c.Data[0]}, 0); err != nil {
		t.Errorf("write to a forgotten piece: %v", err)
	}
	if good, err := store.NewVerifier(c.Manifest).Check(s, 0); good || err != nil {
		t.Errorf("overwritten piece: %v, %v", good, err)
	}
	if err := s.Finish(); !errors.Is(err, store.ErrNotWhole) {
		t.Errorf("finish without the piece: %v", err)
	}
	conformPut(t, s, c, rand.Perm(c.Manifest.Pieces()))
	conformCheck(t, s.Finish())
}

// conformHas checks Has and Count through a transfer, and after it.
func conformHas(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
	conformWantPieces(t, s, c, nil)
	order := rand.Perm(c.Manifest.Pieces())
	for n, i := range order {
		_, err := s.WriteAt(c.Piece(i), c.Manifest.PieceOffset(i))
		conformCheck(t, err)
		if s.Has(i) {
			t.Errorf("has piece %d before Commit", i)
		}
		conformCheck(t, s.Commit(i))
		conformWantPieces(t, s, c, order[:n+1])
	}
	conformCheck(t, s.Forget(order[0]))
	conformWantPieces(t, s, c, order[1:])
	conformCheck(t, s.Commit(order[0]))
	conformCheck(t, s.Finish())
	conformCheck(t, s.Forget(order[0]))
	conformWantPieces(t, s, c, order[1:])
	conformPut(t, s, c, order[:1]) // a content that was whole is repaired
	conformCheck(t, s.Finish())
	conformCheck(t, s.Forget(order[0]))
	conformCheck(t, s.Close())
	conformWantPieces(t, s, c, order[1:])
	if s.Forget(order[1]) == nil {
		t.Error("forget after close: no error")
	}
	conformWantPieces(t, s, c, order[2:])
}

// conformConcurrent writes and reads different pieces at the same time.
func conformConcurrent(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
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
	conformCheck(t, s.Finish())
}

// conformPadding checks that writes to padding are dropped.
func conformPadding(t *testing.T, h harness, c storetest.Content) {
	s := conformNewStore(t, h, c)
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
	conformPut(t, s, c, rand.Perm(c.Manifest.Pieces()))
	conformCheck(t, s.Finish())
	got := make([]byte, len(c.Data))
	if n, err := s.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF || !bytes.Equal(got, c.Data) {
		t.Errorf("read of all: %d, %v", n, err)
	}
}

// conformReopen closes and reopens the store twice during a transfer, and after it.
func conformReopen(t *testing.T, h harness, c storetest.Content) {
	order := rand.Perm(c.Manifest.Pieces())
	half := order[:len(order)/2]
	s := h.New(t, c.Manifest)
	conformPut(t, s, c, order)
	for _, i := range order[len(half):] {
		conformCheck(t, s.Forget(i))
	}
	conformCheck(t, s.Close())
	if err := s.Finish(); err == nil {
		t.Error("finish after close: no error")
	}
	s = conformAgain(t, h, s, c, half)
	conformPut(t, s, c, order[len(half):])
	conformCheck(t, s.Close())
	s = conformAgain(t, h, s, c, order)
	conformCheck(t, s.Finish())
	conformCheck(t, s.Close())
	s = conformAgain(t, h, s, c, order)
	if _, err := s.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write after finish: %v", err)
	}
	conformCheck(t, s.Finish())
	conformCheck(t, s.Close())
}

// conformAgain reopens s and checks that it has just those pieces.
func conformAgain(t *testing.T, h harness, s store.Store, c storetest.Content, pieces []int) store.Store {
	t.Helper()
	s = h.Reopen(t, s)
	for _, i := range pieces {
		if good, err := store.NewVerifier(c.Manifest).Check(s, i); !good || err != nil {
			t.Errorf("piece %d after reopening: %v, %v", i, good, err)
		}
	}
	conformWantPieces(t, s, c, pieces)
	return s
}

// conformWantPieces checks that s has exactly those pieces.
func conformWantPieces(t *testing.T, s store.Store, c storetest.Content, pieces []int) {
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

func conformCheck(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
