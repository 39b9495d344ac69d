package payload_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// TestSplitPieces checks that Write leaves only the blocks of pieces in several files to Verify.
func TestSplitPieces(t *testing.T) {
	const piece = storetest.PieceLength
	c := storetest.Make(t, 1, storetest.File("a", piece), storetest.File("b", 10), storetest.File("c", 3*piece-10))
	k := kinds()["plain"]
	from, n := newSource(t, k, c), newNode(t, k, c, "receiver")
	for _, sp := range k.blocks(n, c.Manifest) {
		frame := from.frame(sp)
		r, h := bytes.NewReader(frame), new(payload.Header)
		if err := n.ReadHeader(r, h); err != nil {
			t.Fatal(err)
		}
		b := &payload.Block{From: from, Span: h.Span, Buf: payload.GetBuffer(int(h.Span.Length))}
		if _, err := io.ReadFull(r, b.Buf.B); err != nil {
			t.Fatal(err)
		}
		if err := n.Write(b); err != nil {
			t.Fatal(err)
		}
		if written, want := n.wrote(c, sp), sp.Piece != 1; written != want {
			t.Errorf("%+v: written is %v, want %v", sp, written, want)
		}
		n.Verify(b)
		b.Buf.Release()
		if !n.wrote(c, sp) {
			t.Errorf("%+v is not written after it is verified", sp)
		}
	}
	n.complete(c)
}

// wrote reports whether the bytes of a span are in the store.
func (n *node) wrote(c storetest.Content, sp proto.Span) bool {
	n.t.Helper()
	at := c.Manifest.PieceOffset(int(sp.Piece)) + int64(sp.Begin)
	got := make([]byte, sp.Length)
	if _, err := n.store.ReadAt(got, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.t.Fatal(err)
	}
	return bytes.Equal(got, c.Data[at:at+int64(sp.Length)])
}
