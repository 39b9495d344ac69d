package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"testing"

	"github.com/mobgrid/mob/peer/store"
)

// newTestPiece is a piece with these bytes.
func newTestPiece(t *testing.T, s *space, b []byte) *piece {
	t.Helper()
	s.reserve(true)
	block := s.take()
	p := newPiece(s, append(block[:0], b...))
	t.Cleanup(p.free)
	return p
}

func newTestSpace(t *testing.T, spool int64) *space {
	t.Helper()
	s := newSpace(t.TempDir(), spool)
	t.Cleanup(s.close)
	return s
}

// TestMoves checks that a piece is the same after it has moved, and that both places are used again.
func TestMoves(t *testing.T) {
	t.Parallel()
	s := newTestSpace(t, 1<<20)
	want := bytes.Repeat([]byte("mob"), pieceSize/4)
	for range 5 {
		p := newTestPiece(t, s, want)
		done := make(chan error, 1)
		go func() { done <- p.toSpool() }()
		got := make([]byte, len(want)-2)
		for moved := false; !moved; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				moved = true
			default:
			}
			if err := p.read(got, 2); err != nil || !bytes.Equal(got, want[2:]) {
				t.Fatalf("other bytes while it moves: %v", err)
			}
		}
		if memory, spool := s.used(); memory != 0 || spool != pieceSize || p.inMemory() {
			t.Errorf("%d in memory and %d in the spool", memory, spool)
		}
		p.free()
		if err := p.read(got, 0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("read of a piece that was freed: %v", err)
		}
	}
	if memory, spool := s.used(); memory != 0 || spool != 0 || len(s.free) != 1 {
		t.Errorf("%d in memory, %d in the spool, %d free", memory, spool, len(s.free))
	}
	if names, err := os.ReadDir(s.dir); err != nil || len(names) > 0 {
		t.Errorf("the spool has a name: %v, %v", names, err)
	}
}

// TestSpoolFull checks that a piece stays in memory if the spool has no room for it.
func TestSpoolFull(t *testing.T) {
	t.Parallel()
	s := newTestSpace(t, pieceSize+pieceSize/2)
	a, b := newTestPiece(t, s, []byte("a")), newTestPiece(t, s, []byte("b"))
	if err := a.toSpool(); err != nil {
		t.Fatal(err)
	}
	if err := b.toSpool(); !errors.Is(err, errSpoolFull) || !b.inMemory() {
		t.Errorf("a second one: %v", err)
	}
	a.free()
	if err := b.toSpool(); err != nil {
		t.Errorf("after the first was freed: %v", err)
	}
}

// TestSpoolDamaged checks that bytes that changed in the spool are not delivered.
func TestSpoolDamaged(t *testing.T) {
	t.Parallel()
	s := newTestSpace(t, 1<<20)
	want := bytes.Repeat([]byte("mob"), 1000)
	p, buf := newTestPiece(t, s, want), make([]byte, pieceSize)
	if err := p.toSpool(); err != nil {
		t.Fatal(err)
	}
	if got, err := p.bytes(buf); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("from the spool: %v", err)
	}
	if err := s.writeSpool([]byte{^want[10]}, p.spool, 10); err != nil {
		t.Fatal(err)
	}
	if got, err := p.bytes(buf); !errors.Is(err, errSpoolDamaged) || len(got) > 0 {
		t.Errorf("%d damaged bytes: %v", len(got), err)
	}
}

// TestLeave checks how much of a piece has left the sender.
func TestLeave(t *testing.T) {
	t.Parallel()
	const cell = 16 << 10
	p := newTestPiece(t, newTestSpace(t, 0), make([]byte, 5*cell+3))
	for _, c := range []struct {
		from, to int
		fresh    int64
	}{{0, cell, cell}, {0, 2 * cell, cell}, {4 * cell, 5*cell + 3, cell + 3}, {0, 5*cell + 3, 2 * cell}, {0, cell, 0}} {
		before := p.hasLeft()
		if got := p.leave(c.from, c.to); got != c.fresh || before && got > 0 {
			t.Errorf("%d to %d: %d bytes", c.from, c.to, got)
		}
	}
	if !p.hasLeft() {
		t.Error("it has not left")
	}
}

// TestEpochStore checks the store of an epoch, whose pieces are added and removed.
func TestEpochStore(t *testing.T) {
	t.Parallel()
	s := newTestSpace(t, 1<<20)
	e := newEpoch(0)
	lost, stored := 0, 0
	e.lost = func() { lost++ }
	data := bytes.Repeat([]byte("stream"), pieceSize)[:pieceSize+50]
	empty := func(size int) *piece {
		s.reserve(true)
		return &piece{space: s, size: size, stored: func() { stored++ }}
	}
	e.put(3, empty(pieceSize), false)
	e.put(4, empty(50), false)
	got := make([]byte, len(data))
	if n, err := e.WriteAt(data, 3*pieceSize); n != len(data) || err != nil {
		t.Fatalf("wrote %d: %v", n, err)
	}
	if e.Has(3) || e.Count() > 0 {
		t.Error("it has pieces that are not verified")
	}
	for i := 3; i <= 4; i++ {
		for range 2 {
			if err := e.Commit(i); err != nil {
				t.Error(err)
			}
		}
	}
	if !e.Has(3) || !e.Has(4) || e.Has(5) || e.Has(-1) || e.Count() != 2 || stored != 2 {
		t.Errorf("it has %d pieces, and told of %d", e.Count(), stored)
	}
	if n, err := e.ReadAt(got, 3*pieceSize); n != len(got) || err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d: %v", n, err)
	}
	if _, err := e.WriteAt(data, 3*pieceSize); !errors.Is(err, store.ErrVerified) {
		t.Errorf("wrote a verified piece: %v", err)
	}
	p, _ := e.piece(3)
	p.sum = sha256.Sum256(data[:pieceSize])
	if err := p.toSpool(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.ReadAt(got, 3*pieceSize); err != nil || !bytes.Equal(got, data) {
		t.Errorf("from the spool: %v", err)
	}
	e.drop(3)
	if _, err := e.ReadAt(got, 3*pieceSize); !errors.Is(err, os.ErrClosed) || e.Has(3) || e.Count() != 1 {
		t.Errorf("it has a piece that was dropped: %v", err)
	}
	if _, err := e.WriteAt(data[:10], 3*pieceSize); !errors.Is(err, store.ErrVerified) {
		t.Errorf("wrote a piece that was dropped: %v", err)
	}
	if err := e.Commit(3); err == nil {
		t.Error("a piece that was dropped is verified")
	}
	if err := e.Forget(4); err != nil || e.Has(4) || lost != 1 {
		t.Errorf("it has a damaged piece: %v", err)
	}
	e.drop(4)
	if memory, spool := s.used(); memory+spool > 0 {
		t.Errorf("%d in memory and %d in the spool", memory, spool)
	}
}
