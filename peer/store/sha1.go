package store

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
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

// SHA1 reads the content of m and returns the SHA-1 of each piece, joined. It uses the
// Workers and Progress of opt. It fails with [*DamagedError] if a piece does not match
// its hash in m.
func SHA1(ctx context.Context, content io.ReaderAt, m *proto.Manifest, opt ScanOptions) ([]byte, error) {
	if m.TorrentOnly() {
		return m.SHA1, nil // by which its pieces were verified
	}
	sums := newSHA1Sums(m)
	s := newScanner(ctx, content, m, opt)
	err := InParallel(ctx, m.Pieces(), opt.workers(), func(piece int) error {
		sum, err := s.hash(piece, &sums)
		if err == nil && sum != m.Hash(piece) {
			err = &DamagedError{Piece: piece}
		}
		return err
	})
	return sums.joined, err
}

// DamagedError reports a piece that does not match its hash any more.
type DamagedError struct{ Piece int }

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("piece %d was changed by another program since it was verified", e.Piece)
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
func (s *sha1Sums) hash(r io.ReaderAt, piece int, buf []byte) (sum [sha256.Size]byte, err error) {
	if h, ok := r.(holeHasher); ok {
		if sum, ok := h.hashHole(piece); ok {
			s.set(piece, s.zeros())
			return sum.sha256, nil
		}
	}
	h := newBothHashes()
	if err := readInto(h, r, s.m, piece, buf); err != nil {
		return sum, err
	}
	both := h.sum()
	s.set(piece, both.sha1)
	return both.sha256, nil
}

func (s *sha1Sums) set(piece int, sum [sha1.Size]byte) { copy(s.joined[piece*sha1.Size:], sum[:]) }
