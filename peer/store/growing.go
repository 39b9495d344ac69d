package store

import (
	"crypto/sha256"

	"github.com/mobgrid/mob/proto"
)

// grown is the length of a piece and its hash.
type grown struct {
	size int
	sum  [sha256.Size]byte
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
		grown: make(map[int]grown),
	}
}

// Growing reports whether v is of [NewGrowing]. Then its manifest has no hashes, and no encoding.
func (v *Verifier) Growing() bool { return v.grown != nil }

// Grow adds a piece: its length in bytes, and its SHA-256.
func (v *Verifier) Grow(piece, size int, sum [sha256.Size]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.grown[piece] = grown{size, sum}
}

// PieceSize returns the length of a piece in bytes, the maximum if the piece was not added yet.
func (v *Verifier) PieceSize(piece int) int {
	if p, ok := v.piece(piece); ok {
		return p.size
	}
	return v.m.PieceSize(piece)
}

// piece returns a piece that was added.
func (v *Verifier) piece(piece int) (p grown, ok bool) {
	if !v.Growing() {
		return p, false
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	p, ok = v.grown[piece]
	return p, ok
}

// matches reports whether the hash of a piece is right.
func (v *Verifier) matches(piece int, sum *pieceSum) bool {
	if !v.Growing() {
		return sum.matches(v.m, piece)
	}
	p, ok := v.piece(piece)
	return ok && sum.sha256 == p.sum
}
