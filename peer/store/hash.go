package store

import (
	"crypto/sha1"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/mobgrid/mob/proto"
)

// hashBuffer is the read size in bytes if the caller provides no buffer.
const hashBuffer = 256 << 10

// hashPiece reads a piece of m, of size bytes, from r and returns its hash of the kind that m has. It reads through
// buf, or through a new buffer if buf is empty. Holes of a [Disk] are not read.
func hashPiece(r io.ReaderAt, m *proto.Manifest, piece, size int, buf []byte) (pieceSum, error) {
	if h, ok := r.(holeHasher); ok {
		if sum, ok := h.hashHole(piece); ok {
			return sum, nil
		}
	}
	h := newPieceHash(m)
	if err := readInto(h, r, m.PieceOffset(piece), size, buf); err != nil {
		return pieceSum{}, err
	}
	return h.sum(), nil
}

// readInto reads left bytes through buf, as [hashPiece] does, into h.
func readInto(h PieceHash, r io.ReaderAt, offset int64, left int, buf []byte) error {
	if len(buf) == 0 {
		buf = make([]byte, min(hashBuffer, left))
	}
	for left > 0 {
		part := buf[:min(len(buf), left)]
		if n, err := r.ReadAt(part, offset); n < len(part) {
			return unexpectedEOF(err)
		}
		offset += int64(len(part))
		left -= len(part)
		h.Write(part)
	}
	return nil
}

// unexpectedEOF turns [io.EOF] into [io.ErrUnexpectedEOF].
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
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
	switch {
	case h.sha1 == nil:
		h.sha256.Write(p)
		return
	case h.sha256 == nil:
		h.sha1.Write(p)
		return
	}
	// In parts that are still in the CPU's cache for the second hash.
	const most = 64 << 10
	for len(p) > 0 {
		part := p[:min(len(p), most)]
		h.sha256.Write(part)
		h.sha1.Write(part)
		p = p[len(part):]
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

// holeHasher is a reader that knows the hash of pieces in holes of sparse files, which
// are zeros, without reading them.
type holeHasher interface {
	// hashHole returns the hashes of a piece if it is in holes.
	hashHole(piece int) (sum pieceSum, ok bool)
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
