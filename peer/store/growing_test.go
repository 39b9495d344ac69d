package store_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/mobgrid/mob/peer/store"
)

// TestGrowing checks that pieces are verified once they were added.
func TestGrowing(t *testing.T) {
	t.Parallel()
	const length = 64 << 10
	v := store.NewGrowing("stream", 4, length)
	piece, short := bytes.Repeat([]byte("p"), length), []byte("short")
	content := bytes.NewReader(append(bytes.Clone(piece), short...))
	sum := func(b []byte) store.PieceHash {
		h := v.NewHash()
		h.Write(b)
		return h
	}
	if v.Verify(0, sum(piece)) {
		t.Error("a piece that was not added is good")
	}
	if n := v.PieceSize(1); n != length {
		t.Errorf("it may have %d bytes", n)
	}
	v.Grow(0, length, sha256.Sum256(piece))
	v.Grow(1, len(short), sha256.Sum256(short))
	if v.PieceSize(0) != length || v.PieceSize(1) != len(short) {
		t.Errorf("pieces of %d and %d bytes", v.PieceSize(0), v.PieceSize(1))
	}
	if !v.Verify(0, sum(piece)) || !v.Verify(1, sum(short)) || v.Verify(0, sum(short)) || v.Verify(2, sum(piece)) {
		t.Error("a piece is not good, or another is")
	}
	for i := range 2 {
		if good, err := v.Check(content, i); !good || err != nil {
			t.Errorf("piece %d: %v, %v", i, good, err)
		}
	}
	if good, err := v.Check(content, 2); good || err == nil {
		t.Error("a piece that is not there is good")
	}
}
