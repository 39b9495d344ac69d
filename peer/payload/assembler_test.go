package payload

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// blocks cuts piece i of m into spans of size bytes.
func blocks(m *proto.Manifest, i, size int) []proto.Span {
	var out []proto.Span
	for at := 0; at < m.PieceSize(i); at += size {
		n := min(size, m.PieceSize(i)-at)
		out = append(out, proto.Span{Piece: uint32(i), Begin: uint32(at), Length: uint32(n)})
	}
	return out
}

// put passes a block to write and verify, and returns the last verdict.
func put(t *testing.T, a *assembler, sp proto.Span, data []byte, from proto.PeerID) (verdict, []proto.PeerID) {
	t.Helper()
	parts, err := a.write(sp, data, a.reserve(sp))
	if err != nil {
		t.Fatal(err)
	}
	v, sources := duplicate, []proto.PeerID(nil)
	for _, p := range parts {
		at := p.Begin - sp.Begin
		v, sources, err = a.verify(p, data[at:at+p.Length], from)
		if err != nil {
			t.Fatal(err)
		}
	}
	return v, sources
}

func slice(c storetest.Content, sp proto.Span) []byte {
	at := c.Manifest.PieceOffset(int(sp.Piece)) + int64(sp.Begin)
	return c.Data[at : at+int64(sp.Length)]
}

func TestPiecesInAnyOrder(t *testing.T) {
	c := storetest.Make(t, 1, storetest.File("", 3<<20+777))
	st := c.Store(t)
	a := newAssembler(store.NewVerifier(c.Manifest), st)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range c.Manifest.Pieces() {
		spans := blocks(c.Manifest, i, 16<<10<<rng.IntN(4))
		rng.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		for k, sp := range spans {
			v, _ := put(t, a, sp, slice(c, sp), "a")
			if last := k == len(spans)-1; last != (v == committed) || !last && v != incomplete {
				t.Fatalf("piece %d, block %d of %d: verdict %d", i, k+1, len(spans), v)
			}
		}
	}
	if err := st.Publish(); err != nil {
		t.Error(err)
	}
	if len(a.open) != 0 {
		t.Errorf("%d pieces are still open", len(a.open))
	}
}

// TestDuplicateIsNotWritten lets a second source send other bytes for a stored part. The first bytes are
// hashed, so the second must not reach the store.
func TestDuplicateIsNotWritten(t *testing.T) {
	c := storetest.Make(t, 2, storetest.File("", 256<<10))
	st := c.Store(t)
	a := newAssembler(store.NewVerifier(c.Manifest), st)
	spans := blocks(c.Manifest, 0, 64<<10)
	put(t, a, spans[0], slice(c, spans[0]), "honest")
	evil := proto.Span{Begin: 0, Length: 64 << 10}
	if v, _ := put(t, a, evil, make([]byte, evil.Length), "polluter"); v != duplicate {
		t.Errorf("verdict %d for a duplicate", v)
	}
	var v verdict
	var sources []proto.PeerID
	for _, sp := range spans[1:] {
		v, sources = put(t, a, sp, slice(c, sp), "honest")
	}
	if v != committed || len(sources) > 0 {
		t.Errorf("verdict %d, and false parts of %q", v, sources)
	}
	if good, err := store.NewVerifier(c.Manifest).Check(st, 0); err != nil || !good {
		t.Errorf("the store has other bytes than were hashed: %v, %v", good, err)
	}
	if v, _ := put(t, a, evil, make([]byte, evil.Length), "polluter"); v != duplicate || len(a.open) != 0 {
		t.Errorf("after the piece: verdict %d, %d open", v, len(a.open))
	}
}

// committing calls a function before each Commit.
type committing struct {
	store.Store
	before func()
}

func (s committing) Commit(piece int) error {
	s.before()
	return s.Store.Commit(piece)
}

// TestBlockDuringCommit checks that a block which arrives between the verdict on its piece and the commit waits: it would
// be written over verified bytes.
func TestBlockDuringCommit(t *testing.T) {
	c := storetest.Make(t, 2, storetest.File("", 256<<10))
	var a *assembler
	a = newAssembler(store.NewVerifier(c.Manifest), committing{c.Store(t), func() {
		if p := a.piece(0); p.mu.TryLock() {
			t.Error("a block may be written")
			p.mu.Unlock()
		}
	}})
	for _, sp := range blocks(c.Manifest, 0, 64<<10) {
		put(t, a, sp, slice(c, sp), "honest")
	}
	evil := proto.Span{Begin: 0, Length: 64 << 10}
	if v, _ := put(t, a, evil, make([]byte, evil.Length), "polluter"); v != duplicate || len(a.open) != 0 {
		t.Errorf("after the piece: verdict %d, %d open", v, len(a.open))
	}
}

func TestOverlappingBlocks(t *testing.T) {
	c := storetest.Make(t, 3, storetest.File("", 256<<10))
	a := newAssembler(store.NewVerifier(c.Manifest), c.Store(t))
	var v verdict
	for _, sp := range []proto.Span{
		{Begin: 32 << 10, Length: 64 << 10},
		{Begin: 0, Length: 128 << 10},
		{Begin: 64 << 10, Length: 192 << 10},
	} {
		v, _ = put(t, a, sp, slice(c, sp), "a")
	}
	if v != committed {
		t.Errorf("verdict %d", v)
	}
}

// TestCorruptPartNamesSender lets one of three peers send a corrupt part of a piece. Which one is known once
// the piece is valid.
func TestCorruptPartNamesSender(t *testing.T) {
	c := storetest.Make(t, 4, storetest.File("", 256<<10))
	a := newAssembler(store.NewVerifier(c.Manifest), c.Store(t))
	spans := blocks(c.Manifest, 0, 64<<10)
	put(t, a, spans[0], slice(c, spans[0]), "honest")
	put(t, a, spans[2], slice(c, spans[2]), "other") // out of order
	put(t, a, spans[1], make([]byte, 64<<10), "polluter")
	v, sources := put(t, a, spans[3], slice(c, spans[3]), "polluter")
	if v != failed || len(sources) != 3 {
		t.Errorf("verdict %d from %q", v, sources)
	}
	for _, sp := range spans { // it starts over
		v, sources = put(t, a, sp, slice(c, sp), "other")
	}
	if v != committed || !slices.Equal(sources, []proto.PeerID{"polluter"}) {
		t.Errorf("at the second attempt: verdict %d, and false parts of %q", v, sources)
	}
}

// TestSuspectsAreBounded checks that the parts of a bounded number of failed pieces are kept, the last one included.
func TestSuspectsAreBounded(t *testing.T) {
	const pieces = maxSuspects + 10
	c := storetest.Make(t, 4, storetest.File("", pieces*32<<10))
	c.Manifest.PieceLength = 32 << 10
	c.Hash(t)
	a := newAssembler(store.NewVerifier(c.Manifest), c.Store(t))
	for i := range pieces {
		spans := blocks(c.Manifest, i, c.Manifest.PieceSize(i)/2)
		put(t, a, spans[0], slice(c, spans[0]), "honest")
		if v, _ := put(t, a, spans[1], make([]byte, spans[1].Length), "polluter"); v != failed {
			t.Fatalf("verdict %d", v)
		}
	}
	if n := len(a.suspects); n != maxSuspects || len(a.open) > 0 {
		t.Errorf("parts of %d pieces are kept", n)
	}
	var sources []proto.PeerID
	for _, sp := range blocks(c.Manifest, pieces-1, c.Manifest.PieceSize(pieces-1)/2) {
		_, sources = put(t, a, sp, slice(c, sp), "other")
	}
	if !slices.Equal(sources, []proto.PeerID{"polluter"}) {
		t.Errorf("false parts of the last piece are from %q", sources)
	}
}

// TestDiscard drops a partial piece, which another peer sends again.
func TestDiscard(t *testing.T) {
	c := storetest.Make(t, 4, storetest.File("", 256<<10))
	a := newAssembler(store.NewVerifier(c.Manifest), c.Store(t))
	spans := blocks(c.Manifest, 0, 64<<10)
	put(t, a, spans[0], make([]byte, 64<<10), "polluter")
	a.discard(0)
	var v verdict
	for _, sp := range spans {
		v, _ = put(t, a, sp, slice(c, sp), "honest")
	}
	if v != committed {
		t.Errorf("verdict %d", v)
	}
}

// TestBlockOfDiscardedPiece drops a partial piece while a block of it is written, which counts for the next attempt. The block of
// another peer is not written over it: it would not be hashed.
func TestBlockOfDiscardedPiece(t *testing.T) {
	c := storetest.Make(t, 4, storetest.File("", 256<<10))
	st, v := c.Store(t), store.NewVerifier(c.Manifest)
	a := newAssembler(v, st)
	spans := blocks(c.Manifest, 0, 64<<10)
	parts, err := a.write(spans[0], slice(c, spans[0]), a.reserve(spans[0]))
	if err != nil {
		t.Fatal(err)
	}
	a.discard(0)
	if _, _, err := a.verify(parts[0], slice(c, spans[0]), "honest"); err != nil {
		t.Fatal(err)
	}
	put(t, a, spans[0], make([]byte, 64<<10), "polluter")
	for _, sp := range spans[1:] {
		put(t, a, sp, slice(c, sp), "polluter")
	}
	if good, err := v.Check(st, 0); err != nil || !good || !st.Has(0) {
		t.Errorf("the piece is committed: %v, and good: %v, %v", st.Has(0), good, err)
	}
}

// torrent returns a manifest with SHA-1, and with padding within and across pieces.
func torrent(t *testing.T) storetest.Content {
	const piece = proto.MinPieceLength
	return storetest.MakeTorrent(t, 5, storetest.Untimed(
		storetest.File("b", 2*piece+100), storetest.Pad(piece-100), storetest.File("a", 3),
		storetest.Pad(50_000), storetest.File("c", 50_000))...)
}

// TestTorrent lets a peer send other bytes than zeros for padding, which is hashed and
// stored as zeros.
func TestTorrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, shuffle := range map[string]func(n int, swap func(i, j int)){
		"in order":     func(int, func(i, j int)) {},
		"in any order": rng.Shuffle,
	} {
		t.Run(name, func(t *testing.T) {
			c := torrent(t)
			c.Manifest.PieceLength *= 4
			c.Hash(t)
			st, v := c.Store(t), store.NewVerifier(c.Manifest)
			a := newAssembler(v, st)
			sent := storetest.Content{Manifest: c.Manifest, Data: bytes.Clone(c.Data)}
			sent.Data[2*proto.MinPieceLength+200] = 1 // in the first padding
			for i := range c.Manifest.Pieces() {
				spans := blocks(c.Manifest, i, 16<<10<<rng.IntN(2))
				shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
				for k, sp := range spans {
					v, _ := put(t, a, sp, slice(sent, sp), "a")
					if last := k == len(spans)-1; last != (v == committed) {
						t.Fatalf("piece %d, block %d of %d: verdict %d", i, k+1, len(spans), v)
					}
				}
			}
			if err := st.Publish(); err != nil {
				t.Error(err)
			}
			for i := range c.Manifest.Pieces() {
				if good, err := v.Check(st, i); !good || err != nil {
					t.Errorf("piece %d: %v, %v", i, good, err)
				}
			}
		})
	}
}
