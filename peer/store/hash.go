package store

import (
	"crypto/sha1"
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// hashBuffers has buffers for the reads of hashPiece.
var hashBuffers = sync.Pool{New: func() any { b := make([]byte, 1<<20); return &b }} //nolint:gochecknoglobals // a pool

// hashPiece reads a piece of m, of size bytes, from r into h and returns its hash. Holes of a [Disk] are not read.
func hashPiece(r io.ReaderAt, h PieceHash, m *proto.Manifest, piece, size int) (pieceSum, error) {
	if d, ok := r.(*Disk); ok {
		if sum, ok := d.hashHole(piece); ok {
			return sum, nil
		}
	}
	buf := hashBuffers.Get().(*[]byte)
	defer hashBuffers.Put(buf)
	offset := m.PieceOffset(piece)
	for size > 0 {
		part := (*buf)[:min(len(*buf), size)]
		if n, err := r.ReadAt(part, offset); n < len(part) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return pieceSum{}, err
		}
		offset += int64(len(part))
		size -= len(part)
		h.Write(part)
	}
	return h.sum(), nil
}

// PieceHash hashes the bytes of one piece as they arrive. Hashes that are not needed are nil.
type PieceHash struct{ sha256, sha1 hash.Hash }

func newPieceHash(m *proto.Manifest) PieceHash {
	if m.TorrentOnly() {
		return PieceHash{sha1: sha1.New()}
	}
	return PieceHash{sha256: sha256.New()}
}

func newBothHashes() PieceHash { return PieceHash{sha256: sha256.New(), sha1: sha1.New()} }

// Write hashes the next bytes.
func (h PieceHash) Write(p []byte) {
	// In parts that are still in the CPU's cache for the second hash.
	for part := range slices.Chunk(p, 64<<10) {
		if h.sha256 != nil {
			h.sha256.Write(part)
		}
		if h.sha1 != nil {
			h.sha1.Write(part)
		}
	}
}

func (h PieceHash) sum() (s pieceSum) {
	if h.sha256 != nil {
		h.sha256.Sum(s.sha256[:0])
	}
	if h.sha1 != nil {
		h.sha1.Sum(s.sha1[:0])
	}
	return s
}

// pieceSum is the hashes of a piece. Hashes that are not needed are zero.
type pieceSum struct {
	sha256 [sha256.Size]byte
	sha1   [sha1.Size]byte
}

// matches reports whether m has this hash for a piece.
func (s *pieceSum) matches(m *proto.Manifest, piece int) bool {
	if m.TorrentOnly() {
		return s.sha1 == m.HashSHA1(piece)
	}
	return s.sha256 == m.Hash(piece)
}

// hashZeros returns the sum of n zeros, with h, which must be new.
func hashZeros(h PieceHash, n int64) pieceSum {
	part := make([]byte, min(n, 64<<10))
	for ; n > 0; n -= int64(len(part)) {
		part = part[:min(n, int64(len(part)))]
		h.Write(part)
	}
	return h.sum()
}
