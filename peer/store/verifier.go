package store

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Verifier tells the good pieces of one content from the bad ones, by what its
// manifest has: SHA-256, or the SHA-1 of a content that is known by its torrent
// alone. Of such a content it keeps the SHA-256 of the good pieces that it sees, of
// which in the end it makes the manifest for those who come later. All methods may
// be called from several goroutines.
//
// There is one for each content that is on its way, and all that looks at pieces of it
// goes through that one:
//
//	v := store.NewVerifier(m)                       // m from metainfo.(*Torrent).Manifest, or as ever
//	asm := assembly.New(v, st)                      // what comes in
//	err := store.Recheck(ctx, st, v, doubtful, nil) // what may be there
//	err = v.Expect(other, dropIt)                   // a manifest that a member says is of m's content; at any time
//	...                                             // every piece is committed
//	m, err = v.Publish(ctx, st, opt)                // reads only what was good before a restart
//
// For a content with SHA-256 it costs nothing, and Publish gives its manifest back.
type Verifier struct {
	m *proto.Manifest

	mu      sync.Mutex // guards what follows
	sums    []byte     // SHA-256 of each known piece, joined; nil when m has them
	known   []bool     // per piece: it is in sums
	other   *proto.Manifest
	refuted func(piece int)
}

// NewVerifier is a verifier of the pieces of m, which must be valid.
func NewVerifier(m *proto.Manifest) *Verifier {
	v := &Verifier{m: m}
	if m.TorrentOnly() {
		v.sums, v.known = make([]byte, m.Pieces()*sha256.Size), make([]bool, m.Pieces())
	}
	return v
}

// Manifest is the one whose hashes say what is good. It is never that of Expect.
func (v *Verifier) Manifest() *proto.Manifest { return v.m }

// RefutedError says that a manifest is not of the content that it was said to be of.
type RefutedError struct {
	// Piece has another SHA-256 in it than in the content.
	Piece int
}

// Error implements error.
func (e *RefutedError) Error() string {
	return fmt.Sprintf("the manifest is of another content: it has another SHA-256 of piece %d than what the torrent's SHA-1 is of", e.Piece)
}

var errOtherFiles = errors.New("the manifest is of another content: it has other files, or other pieces")

// Expect compares other, which somebody says is the manifest of the same content,
// with every good piece: at once with those that are known, failing with
// [*RefutedError] if one differs, then with each that becomes known. The first of those that
// differs ends that and is told to refuted, once, by the goroutine that found it and must not
// be kept long. It says that other lies, never that the piece is bad: the torrent is what
// the user asked for. Another Expect takes the place of the one before.
func (v *Verifier) Expect(other *proto.Manifest, refuted func(piece int)) error {
	if v.sums == nil || other.TorrentOnly() || !v.m.SameFiles(other) {
		return errOtherFiles
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for piece, known := range v.known {
		if known && v.sum(piece) != other.Hash(piece) {
			return &RefutedError{Piece: piece}
		}
	}
	v.other, v.refuted = other, refuted
	return nil
}

// Expected is the manifest of Expect that no piece has refuted yet, or nil.
func (v *Verifier) Expected() *proto.Manifest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.other
}

// Publish is the manifest of a whole content for everybody: v's own when that has
// SHA-256. Else it is the expected one, if there is one and every piece agrees with
// it; or a new one, the torrent's tree with the SHA-256, which is the same on every
// node. Pieces whose SHA-256 is not known are read from content, on all CPUs, and
// checked again. Of the options only Workers and Progress count. It fails with
// [*DamagedError] when a piece is not good any more.
func (v *Verifier) Publish(ctx context.Context, content io.ReaderAt, opt ScanOptions) (*proto.Manifest, error) {
	if v.sums == nil {
		return v.m, nil
	}
	if err := v.complete(ctx, content, opt); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.other != nil {
		return v.other, nil
	}
	m := &proto.Manifest{Name: v.m.Name, PieceLength: v.m.PieceLength, Entries: v.m.Entries, Hashes: v.sums}
	return m, m.Validate()
}

// complete reads the pieces whose SHA-256 is not known.
func (v *Verifier) complete(ctx context.Context, content io.ReaderAt, opt ScanOptions) error {
	unknown, total := v.unknown()
	s := newScanner(ctx, content, v.m, opt)
	s.total = total
	return inParallel(ctx, len(unknown), opt.workers(), func(i int) error {
		good, err := s.check(v, unknown[i])
		if err == nil && !good {
			err = &DamagedError{Piece: unknown[i]}
		}
		return err
	})
}

// unknown are the pieces whose SHA-256 is not known, and how many bytes they have.
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

// check is [Check] through buf, and keeps the SHA-256 of a good piece.
func (v *Verifier) check(r io.ReaderAt, piece int, buf []byte) (good bool, err error) {
	sum, good, err := check(r, v.m, piece, buf)
	if good {
		v.keep(piece, &sum)
	}
	return good, err
}

// keep keeps the SHA-256 of a good piece, where the manifest has none.
func (v *Verifier) keep(piece int, sum *pieceSum) {
	if v.sums == nil {
		return
	}
	if refuted := v.learn(piece, sum.sha256); refuted != nil {
		refuted(piece)
	}
}

// learn adds a SHA-256 to those known, and returns whom to tell if that is not what
// was expected.
func (v *Verifier) learn(piece int, sum [sha256.Size]byte) (refuted func(piece int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known[piece] { // it came again; a published manifest has the sum already
		return nil
	}
	copy(v.sums[piece*sha256.Size:], sum[:])
	v.known[piece] = true
	if v.other != nil && v.other.Hash(piece) != sum {
		refuted = v.refuted
		v.other, v.refuted = nil, nil
	}
	return refuted
}

func (v *Verifier) sum(piece int) [sha256.Size]byte {
	return [sha256.Size]byte(v.sums[piece*sha256.Size : (piece+1)*sha256.Size])
}

// PieceHash hashes one piece of a verifier's content as it comes.
type PieceHash struct {
	sha256 hash.Hash
	sha1   hash.Hash // nil when SHA-256 decides
}

// NewHash begins to hash a piece.
func (v *Verifier) NewHash() PieceHash { return newPieceHash(v.m) }

func newPieceHash(m *proto.Manifest) PieceHash {
	if m.TorrentOnly() {
		return bothHashes()
	}
	return PieceHash{sha256: sha256.New()}
}

func bothHashes() PieceHash { return PieceHash{sha256: sha256.New(), sha1: sha1.New()} }

// Write hashes the next bytes.
func (h PieceHash) Write(p []byte) {
	if h.sha1 == nil {
		h.sha256.Write(p)
		return
	}
	feed(p, h.sha256, h.sha1)
}

// Verify reports whether a piece is good of which all bytes were written to h.
func (v *Verifier) Verify(piece int, h PieceHash) (good bool) {
	sum := h.sum()
	if good = sum.fits(v.m, piece); good {
		v.keep(piece, &sum)
	}
	return good
}

// pieceSum is what the bytes of a piece hash to. The SHA-1 is zero where SHA-256
// decides.
type pieceSum struct {
	sha256 [sha256.Size]byte
	sha1   [sha1.Size]byte
}

func (h PieceHash) sum() (s pieceSum) {
	h.sha256.Sum(s.sha256[:0])
	if h.sha1 != nil {
		h.sha1.Sum(s.sha1[:0])
	}
	return s
}

// fits reports whether m has that sum for a piece.
func (s *pieceSum) fits(m *proto.Manifest, piece int) bool {
	if m.TorrentOnly() {
		return s.sha1 == m.HashSHA1(piece)
	}
	return s.sha256 == m.Hash(piece)
}
