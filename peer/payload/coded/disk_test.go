package coded

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// newBlocks returns source blocks for a generation, not zeroed.
func newBlocks(l layout, generation int) (blocks [][]byte) {
	for range l.Blocks(generation) {
		blocks = append(blocks, bytes.Repeat([]byte{1}, l.Coding.Block))
	}
	return blocks
}

func TestDisk(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 9*proto.MinCodedBlock+5))
	coding, err := proto.NewCoding(c.Manifest, 8)
	if err != nil {
		t.Fatal(err)
	}
	d := disk{newLayout(c.Manifest, coding), store.NewVerifier(c.Manifest), c.Store(t)}
	rest := c.Data
	for g := range d.Generations() {
		for piece, end := d.Pieces(g); piece < end; piece++ {
			if d.Has(g) {
				t.Fatalf("has generation %d before piece %d of %d", g, piece, end)
			}
			if err := d.StorePiece(piece, c.Piece(piece)); err != nil {
				t.Fatal(err)
			}
		}
		blocks := newBlocks(d.layout, g)
		if err := d.Read(g, blocks); err != nil || !d.Has(g) {
			t.Fatalf("generation %d is not there: %v", g, err)
		}
		got, want := bytes.Join(blocks, nil), rest[:d.Size(g)]
		rest = rest[len(want):]
		if !bytes.Equal(got[:len(want)], want) || len(bytes.Trim(got[len(want):], "\x00")) > 0 {
			t.Fatalf("generation %d differs", g)
		}
	}
	if d.Has(d.Generations()) {
		t.Error("has a generation beyond the last")
	}
}

// TestDamaged reads a piece that changed since it was verified.
func TestDamaged(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 4*proto.MinCodedBlock))
	coding, err := proto.NewCoding(c.Manifest, 4)
	if err != nil {
		t.Fatal(err)
	}
	st := c.Store(t)
	d := disk{newLayout(c.Manifest, coding), store.NewVerifier(c.Manifest), st}
	for piece := range c.Manifest.Pieces() {
		if err := d.StorePiece(piece, c.Piece(piece)); err != nil {
			t.Fatal(err)
		}
	}
	last := c.Manifest.Pieces() - 1
	if err := st.Forget(last); err != nil {
		t.Fatal(err)
	}
	if _, err := st.WriteAt([]byte("other"), c.Manifest.PieceOffset(last)); err != nil {
		t.Fatal(err)
	}
	if err := st.Commit(last); err != nil {
		t.Fatal(err)
	}
	var damaged *damagedError
	if err := d.Read(0, newBlocks(d.layout, 0)); !errors.As(err, &damaged) || damaged.Piece != last {
		t.Errorf("%v, want piece %d to be damaged", err, last)
	}
}
