package store

import (
	"errors"
	"io"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Verifier checks the pieces of the content against its manifest: by their SHA-256, or
// by their SHA-1 if only the torrent of the content is known. The verifier of [NewGrowing] learns the hashes of
// pieces during the transfer. All methods may be called from several goroutines.
//
// A transfer has one Verifier, through which all its pieces pass:
//
//	v := store.NewVerifier(m)
//	codec := payload.NewPlain(cfg)                     // pieces that arrive
//	err := store.Audit(ctx, st, v, unverified, found)  // stored pieces
type Verifier struct {
	m     *proto.Manifest
	mu    sync.RWMutex  // guards grown
	grown map[int]grown // the pieces of content that grows, else nil
}

// NewVerifier returns a verifier of the pieces of m, which must be valid.
func NewVerifier(m *proto.Manifest) *Verifier { return &Verifier{m: m} }

// Manifest returns the manifest that pieces are checked against.
func (v *Verifier) Manifest() *proto.Manifest { return v.m }

// NewHash returns an empty hash of a piece, for Verify.
func (v *Verifier) NewHash() PieceHash { return newPieceHash(v.m) }

// Verify reports whether a piece, of which all bytes were written to h, is good.
func (v *Verifier) Verify(piece int, h PieceHash) (good bool) {
	sum := h.sum()
	return v.matches(piece, &sum)
}

// Good reports whether a piece, joined from parts, is good.
func (v *Verifier) Good(piece int, parts ...[]byte) bool {
	h := v.NewHash()
	for _, b := range parts {
		h.Write(b)
	}
	return v.Verify(piece, h)
}

// Check reads a piece from r and reports whether its hash matches. If a file
// of the piece is missing, too short or replaced, it reports false without an error, unless the content grows. If r is
// a [Disk] that cannot be read at present, the error wraps [*UnreadableError], and the bytes may be right. So it does if the
// piece is not good and the path does not lead to the files: the user may use them at another place.
func (v *Verifier) Check(r io.ReaderAt, piece int) (good bool, err error) {
	sum, err := hashPiece(r, v.NewHash(), v.m, piece, v.PieceSize(piece))
	if absent := errors.Is(err, io.ErrUnexpectedEOF) || removed(err); absent && !v.Growing() {
		err = nil
	} else if err == nil {
		good = v.matches(piece, &sum)
	}
	if d, ok := r.(*Disk); ok && err == nil && !good {
		err = d.CheckPlace()
	}
	return good, err
}
