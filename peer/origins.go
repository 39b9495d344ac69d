package peer

import "github.com/mobgrid/mob/peer/store"

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
	m := r.verifier.Manifest()
	return store.InParallel(r.ctx, m.Pieces(), func(i int) error {
		if r.store.Has(i) || r.disk != nil && r.disk.LeavesOut(i) {
			return nil
		}
		p := make([]byte, m.PieceSize(i))
		for _, o := range r.origins {
			if !o.Read(i, p) || !r.verifier.Good(i, p) {
				continue
			}
			if _, err := r.store.WriteAt(p, m.PieceOffset(i)); err != nil {
				return err
			}
			return r.store.Commit(i)
		}
		return nil
	})
}
