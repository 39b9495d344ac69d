package store

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"

	"github.com/mobgrid/mob/proto"
)

// hashBuffer is how much is read at once where the caller gives no buffer.
const hashBuffer = 256 << 10

// Hash reads a piece of m from r and returns its SHA-256. It reads through buf,
// or a buffer of its own when buf is empty. From a [Disk] it does not read what
// lies in a hole of a sparse file.
func Hash(r io.ReaderAt, m *proto.Manifest, piece int, buf []byte) ([sha256.Size]byte, error) {
	sum, err := hashPiece(r, m, piece, buf)
	return sum.sha256, err
}

// hashPiece is [Hash], with the SHA-1 where that decides.
func hashPiece(r io.ReaderAt, m *proto.Manifest, piece int, buf []byte) (pieceSum, error) {
	if h, ok := r.(holeHasher); ok {
		if sum, ok := h.hashHole(piece); ok {
			return sum, nil
		}
	}
	h := newPieceHash(m)
	if err := digest(r, m, piece, buf, h); err != nil {
		return pieceSum{}, err
	}
	return h.sum(), nil
}

// digest reads a piece through buf, as [Hash] does, into h.
func digest(r io.ReaderAt, m *proto.Manifest, piece int, buf []byte, h PieceHash) error {
	if len(buf) == 0 {
		buf = make([]byte, min(hashBuffer, m.PieceSize(piece)))
	}
	offset, left := m.PieceOffset(piece), m.PieceSize(piece)
	for left > 0 {
		part := buf[:min(len(buf), left)]
		if n, err := r.ReadAt(part, offset); n < len(part) {
			return noEOF(err)
		}
		offset += int64(len(part))
		left -= len(part)
		h.Write(part)
	}
	return nil
}

// feed hashes p twice, in parts that the second hash finds in the cache.
func feed(p []byte, a, b hash.Hash) {
	const most = 64 << 10
	for len(p) > 0 {
		part := p[:min(len(p), most)]
		a.Write(part)
		b.Write(part)
		p = p[len(part):]
	}
}

// Check reads a piece of m from r and reports whether it has its hash. A piece
// that cannot be there, because a file is missing, too short or changed, is not good and
// no error.
func Check(r io.ReaderAt, m *proto.Manifest, piece int) (good bool, err error) {
	_, good, err = check(r, m, piece, nil)
	return good, err
}

// check is [Check] through buf, with the sum of the piece.
func check(r io.ReaderAt, m *proto.Manifest, piece int, buf []byte) (sum pieceSum, good bool, err error) {
	sum, err = hashPiece(r, m, piece, buf)
	var changed *ChangedError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fs.ErrNotExist) || errors.As(err, &changed) {
		return sum, false, nil
	}
	return sum, err == nil && sum.fits(m, piece), err
}

// noEOF makes the end of the stream in the middle of a piece an error.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
