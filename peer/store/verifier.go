package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Verifier checks the pieces of one content against its manifest: by their SHA-256, or
// by their SHA-1 if only the torrent of the content is known. In the latter case it
// keeps the SHA-256 of the good pieces that it sees, and makes a manifest of them in the
// end. That of [NewGrowing] is told of the pieces while they come. All methods may be called from several goroutines.
//
// A transfer has one Verifier, through which all its pieces pass:
//
//	v := store.NewVerifier(m)
//	codec := payload.NewPlain(cfg)                  // pieces that arrive
//	err := store.Recheck(ctx, st, v, doubtful, nil) // pieces that may be there
//	...                                             // every piece is committed
//	m, err = v.FullManifest(ctx, st, opt)           // reads the pieces it has not seen
//	err = v.Compare(other)                          // is another node's as good?
type Verifier struct {
	m     *proto.Manifest
	grown *growing // nil unless the content grows

	mu    sync.Mutex // guards what follows
	sums  []byte     // SHA-256 of each known piece, joined; nil if m has them
	known []bool     // whether each piece is in sums
}

// NewVerifier returns a verifier of the pieces of m, which must be valid.
func NewVerifier(m *proto.Manifest) *Verifier {
	v := &Verifier{m: m}
	if m.TorrentOnly() {
		v.sums, v.known = make([]byte, m.Pieces()*sha256.Size), make([]bool, m.Pieces())
	}
	return v
}

// Manifest returns the manifest that pieces are checked against.
func (v *Verifier) Manifest() *proto.Manifest { return v.m }

// NewHash returns an empty hash of a piece, for Verify.
func (v *Verifier) NewHash() PieceHash { return newPieceHash(v.m) }

// Verify reports whether a piece, of which all bytes were written to h, is good.
func (v *Verifier) Verify(piece int, h PieceHash) (good bool) {
	sum := h.sum()
	good = v.matches(piece, &sum)
	if good {
		v.keep(piece, &sum)
	}
	return good
}

// check is [Check] through buf.
func (v *Verifier) check(r io.ReaderAt, piece int, buf []byte) (good bool, err error) {
	sum, good, err := check(r, v.m, piece, buf)
	if good {
		v.keep(piece, &sum)
	}
	return good, err
}

// keep keeps the SHA-256 of a good piece if the manifest has none.
func (v *Verifier) keep(piece int, sum *pieceSum) {
	if v.sums == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known[piece] {
		return // it came again, and a manifest may share sums already
	}
	copy(v.sums[piece*sha256.Size:], sum.sha256[:])
	v.known[piece] = true
}

// FullManifest returns the manifest of a whole content with SHA-256. If the verifier's
// own has none, it makes one, which is the same on every node. It reads the pieces of
// content that it has not seen and checks them, with the Workers and Progress of opt.
// It fails with [*DamagedError] if one is not good any more.
func (v *Verifier) FullManifest(ctx context.Context, content io.ReaderAt, opt ScanOptions) (*proto.Manifest, error) {
	if v.sums == nil {
		return v.m, nil
	}
	unknown, total := v.unknown()
	s := newScanner(ctx, content, v.m, opt)
	s.total = total
	err := InParallel(ctx, len(unknown), opt.workers(), func(i int) error {
		good, err := s.check(v, unknown[i])
		if err == nil && !good {
			err = &DamagedError{Piece: unknown[i]}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m := &proto.Manifest{Name: v.m.Name, PieceLength: v.m.PieceLength, Entries: v.m.Entries, Hashes: v.sums}
	return m, m.Validate()
}

// unknown returns the pieces whose SHA-256 is not known, and their bytes in total.
func (v *Verifier) unknown() (pieces []int, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for piece, known := range v.known {
		if !known {
			pieces = append(pieces, piece)
			total += int64(v.m.PieceSize(piece))
		}
	}
	return pieces, total
}

var (
	errOtherFiles = errors.New("the manifest belongs to another content: its files or pieces differ")
	errNotFull    = errors.New("the SHA-256 of the content's pieces is not known yet")
)

// Compare returns an error unless other is a manifest of the same content as the one
// that FullManifest made, which must have been called before. Modes, times, links and
// directories may differ, since a torrent has none.
func (v *Verifier) Compare(other *proto.Manifest) error {
	if v.sums == nil || other.TorrentOnly() || !v.m.SameFiles(other) {
		return errOtherFiles
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for piece, known := range v.known {
		if !known {
			return errNotFull
		}
		if sum := v.sums[piece*sha256.Size : (piece+1)*sha256.Size]; [sha256.Size]byte(sum) != other.Hash(piece) {
			return fmt.Errorf("the manifest belongs to another content: the SHA-256 of piece %d differs", piece)
		}
	}
	return nil
}
