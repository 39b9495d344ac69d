package store

import (
	"crypto/sha256"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// growing has the hashes of the pieces of growing content.
type growing struct {
	mu    sync.RWMutex // guards what follows
	sums  map[int][sha256.Size]byte
	sizes map[int]int // of the shorter pieces
}

// NewGrowing returns a verifier of content that grows while it is fetched, see
// [Verifier.Grow]. There are at most count of them, of length bytes each or less.
func NewGrowing(name string, count int, length uint32) *Verifier {
	size := int64(count) * int64(length)
	return &Verifier{
		m: &proto.Manifest{
			Name:        name,
			PieceLength: length,
			Entries:     []proto.Entry{{Kind: proto.File, Size: size, Mode: 0o600, MTime: proto.NoMTime}},
		},
		grown: &growing{sums: map[int][sha256.Size]byte{}, sizes: map[int]int{}},
	}
}

// Growing reports whether v is of [NewGrowing]. Then its manifest has no hashes, and no encoding.
func (v *Verifier) Growing() bool { return v.grown != nil }

// Grow adds a piece: its length in bytes, and its SHA-256.
func (v *Verifier) Grow(piece, size int, sum [sha256.Size]byte) {
	g := v.grown
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sums[piece] = sum
	if size < int(v.m.PieceLength) {
		g.sizes[piece] = size
	}
}

// PieceSize returns the length of a piece in bytes, the maximum if the piece was not added yet.
func (v *Verifier) PieceSize(piece int) int {
	if g := v.grown; g != nil {
		g.mu.RLock()
		defer g.mu.RUnlock()
		if size, ok := g.sizes[piece]; ok {
			return size
		}
	}
	return v.m.PieceSize(piece)
}

// matches reports whether the hash of a piece is right.
func (v *Verifier) matches(piece int, sum *pieceSum) bool {
	g := v.grown
	if g == nil {
		return sum.matches(v.m, piece)
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	want, ok := g.sums[piece]
	return ok && sum.sha256 == want
}
