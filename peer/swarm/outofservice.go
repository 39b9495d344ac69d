package swarm

import (
	"maps"
	"slices"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/store"
)

func (k *checker) state(piece int) (unreadable, damaged bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unreadable[piece], k.damaged[piece]
}

// judge takes a piece out of service, or puts it back, after an audit. A piece that was lost during the audit
// is damaged.
func (k *checker) judge(piece int, is store.Verdict, why error) store.Verdict {
	_, wasDamaged := k.state(piece)
	switch {
	case !k.Checkable(piece), is == store.Good && !k.restore(piece):
		return store.Damaged
	case is == store.Good, wasDamaged:
	case is == store.Unreadable:
		k.suspend(piece, why)
	default:
		k.lose(piece)
	}
	return is
}

// suspend takes a piece out of service that cannot be read at present.
func (k *checker) suspend(piece int, err error) {
	k.mu.Lock()
	first, known := len(k.unreadable) == 0, k.unreadable[piece]
	k.unreadable[piece] = true
	if first {
		k.why = err
	}
	k.mu.Unlock()
	if known || k.ctx.Err() != nil {
		return
	}
	if first {
		k.log.Error("content cannot be read at present, and is offered again when it can be",
			"file", k.fileOf(piece), "error", err)
	}
	k.post(mob.Withheld{Range: k.codec.Numbers(piece)}, nil)
}

// lose takes a damaged piece out of service, and the pieces that the store drops with it because a file of it
// was removed.
func (k *checker) lose(piece int) {
	// One at a time, and rehashed: the piece may have been lost with another, and fetched again.
	k.losing.Lock()
	defer k.losing.Unlock()
	if good, err := k.cfg.Verifier.Check(k.st, piece); !k.Checkable(piece) || good || err != nil {
		return
	}
	had := make([]bool, k.m.Pieces())
	for i := range had {
		had[i] = k.st.Has(i)
	}
	k.log.Error("content changed on disk: a piece is damaged and not offered any more",
		"piece", piece, "file", k.fileOf(piece))
	if err := k.st.Forget(piece); err != nil {
		k.log.Error("journal", "error", err)
	}
	had[piece] = true // also one that could not be read
	var lost []int
	for i := range store.Pieces(had) {
		if !k.st.Has(i) {
			lost = append(lost, i)
		}
	}
	k.takeOut(lost)
}

// LoseDropped takes the pieces out of service that the store has dropped since they were verified, because another program
// removed or truncated their file. It is for a store that has not all pieces although every piece was stored.
func (k *checker) LoseDropped() {
	k.losing.Lock()
	defer k.losing.Unlock()
	if lost := k.missing(); len(lost) > 0 {
		k.log.Error("content changed on disk: pieces are fetched again", "pieces", len(lost), "file", k.fileOf(lost[0]))
		k.takeOut(lost)
	}
}

// missing returns the pieces that the store does not have, and that are in service and not left out.
func (k *checker) missing() (pieces []int) {
	for piece := range k.m.Pieces() {
		if unreadable, damaged := k.state(piece); !k.st.Has(piece) && !k.leavesOut(piece) && !unreadable && !damaged {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// takeOut takes pieces out of service that the store no longer has. The caller has the lock losing.
func (k *checker) takeOut(lost []int) {
	k.mu.Lock()
	for _, piece := range lost {
		delete(k.unreadable, piece)
		k.damaged[piece] = true
	}
	k.mu.Unlock()
	k.lost(len(lost))
	for _, piece := range lost {
		k.codec.Forget(piece)
	}
}

// restore puts a good piece back into service, and reports whether it is.
func (k *checker) restore(piece int) bool {
	if !k.st.Has(piece) {
		if err := k.st.Commit(piece); err != nil {
			k.log.Error("journal", "error", err)
			return false
		}
		defer k.restored()
	}
	k.mu.Lock()
	wasUnreadable, wasDamaged := k.unreadable[piece], k.damaged[piece]
	delete(k.unreadable, piece)
	delete(k.damaged, piece)
	last := wasUnreadable && len(k.unreadable) == 0
	rest := false // of the numbers of the piece some cannot be read yet
	numbers := k.codec.Numbers(piece)
	for other := range k.unreadable {
		rest = rest || k.codec.Numbers(other) == numbers
	}
	k.mu.Unlock()
	if last {
		k.log.Info("content can be read again")
	}
	if wasDamaged {
		k.log.Info("piece is right again", "piece", piece, "file", k.fileOf(piece))
		k.codec.Restore(piece)
	}
	if wasUnreadable && !rest {
		k.post(mob.Offered{Range: numbers}, nil)
	}
	return true
}

func (k *checker) stored(piece int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.damaged, piece)
}

// OutOfService returns the damaged pieces in order, the number of unreadable ones, and the reason for the first of these.
func (k *checker) OutOfService() (damaged []int, unreadable int, why error) {
	k.mu.Lock()
	damaged, unreadable, why = slices.Collect(maps.Keys(k.damaged)), len(k.unreadable), k.why
	k.mu.Unlock()
	slices.Sort(damaged)
	return damaged, unreadable, why
}

// fileOf returns the name of the first file that has bytes of a piece.
func (k *checker) fileOf(piece int) string {
	names, _ := k.m.FilesOf([]int{piece}, 1)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
