package store

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// ScanSHA1 is [Scan] and also returns the SHA-1 of each piece, joined. It reads each
// byte once for both hashes, and takes about twice as much CPU time as Scan.
func ScanSHA1(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, []byte, error) {
	var sums sha1Sums
	m, err := scan(ctx, root, opt, &sums)
	return m, sums.joined, err
}

// sha1Sums collects the SHA-1 of the pieces of m. Several goroutines may add different
// pieces.
type sha1Sums struct {
	m      *proto.Manifest
	joined []byte
	zeros  func() [sha1.Size]byte // of a piece of zeros that is not the last
}

func newSHA1Sums(m *proto.Manifest) sha1Sums {
	s := sha1Sums{m: m, joined: make([]byte, m.Pieces()*sha1.Size)}
	s.zeros = sync.OnceValue(func() [sha1.Size]byte {
		return hashZeros(newBothHashes(), int64(m.PieceLength)).sha1
	})
	return s
}

// hash returns the SHA-256 of a piece and adds its SHA-1.
func (s *sha1Sums) hash(r *scanner, piece int, buf []byte) (sum [sha256.Size]byte, err error) {
	if sum, ok := r.hashHole(piece); ok {
		s.set(piece, s.zeros())
		return sum.sha256, nil
	}
	h := newBothHashes()
	if err := readInto(h, r, s.m.PieceOffset(piece), s.m.PieceSize(piece), buf); err != nil {
		return sum, err
	}
	both := h.sum()
	s.set(piece, both.sha1)
	return both.sha256, nil
}

func (s *sha1Sums) set(piece int, sum [sha1.Size]byte) { copy(s.joined[piece*sha1.Size:], sum[:]) }
