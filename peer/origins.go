package peer

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/peer/store"
)

// Origin may have pieces that the node has not fetched: an earlier version on the disk does.
type Origin interface {
	// Read fills p with a piece, and reports whether it did. The bytes may be wrong: they are hashed. It must not wait
	// for the network. Several goroutines call it.
	Read(piece int, p []byte) bool
}

// takeOrigins stores the missing pieces that origins have.
func (r *run) takeOrigins() error {
	if len(r.origins) == 0 {
		return nil
	}
	return store.InParallel(r.ctx, r.verifier.Manifest().Pieces(), func(i int) error {
		if r.store.Has(i) || r.disk != nil && r.disk.LeavesOut(i) {
			return nil
		}
		_, err := TakePiece(r.store, r.verifier, r.origins, i)
		return err
	})
}

// TakePiece stores a piece from the first origin that has it, and reports whether one has.
func TakePiece(s store.Store, v *store.Verifier, origins []Origin, piece int) (found bool, err error) {
	m, buf := v.Manifest(), pieceBuffers.Get().(*[]byte)
	defer pieceBuffers.Put(buf)
	*buf = slices.Grow((*buf)[:0], m.PieceSize(piece))
	p := (*buf)[:m.PieceSize(piece)]
	if !slices.ContainsFunc(origins, func(o Origin) bool { return o.Read(piece, p) && v.Good(piece, p) }) {
		return false, nil
	}
	if _, err := s.WriteAt(p, m.PieceOffset(piece)); err != nil {
		return true, err
	}
	return true, s.Commit(piece)
}

// pieceBuffers has buffers for pieces of origins.
var pieceBuffers = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // a pool
