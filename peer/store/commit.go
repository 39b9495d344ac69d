package store

import "github.com/mobgrid/mob/peer/store/journal"

// Has implements [Store].
func (d *Disk) Has(piece int) bool { return d.verified.has(piece) }

// Count implements [Store].
func (d *Disk) Count() int { return d.verified.count() }

// Commit implements [Store]. Once a flush has failed, so does Commit; the store has
// to be opened again.
func (d *Disk) Commit(piece int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return err
	}
	if d.syncErr != nil {
		return d.syncErr
	}
	if d.verified.has(piece) {
		return nil
	}
	if err := d.journal.Commit(piece); err != nil {
		return err
	}
	d.verified.set(piece)
	if d.journal.Whole() {
		return d.acceptStale()
	}
	d.unsynced += int64(d.m.PieceSize(piece))
	if d.unsynced >= d.syncEvery && !d.syncing {
		d.startFlush()
	}
	return nil
}

// Forget implements [Store].
func (d *Disk) Forget(piece int) error {
	if err := checkPiece(d.m, piece); err != nil {
		return err
	}
	// Before the lock, which another goroutine may hold while it writes to the
	// journal.
	d.verified.clear(piece)
	if forgotten, err := d.recordForget(piece); !forgotten || err != nil {
		return err
	}
	return d.journal.Sync()
}

// recordForget records that a piece is missing, unless it already is.
func (d *Disk) recordForget(piece int) (forgotten bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return false, err
	}
	if d.journal.State(piece) == journal.Missing {
		return false, nil
	}
	return true, d.demote(piece, journal.Missing)
}

// demote makes a piece doubtful or missing. The caller holds the lock, unless the store
// is not in use yet.
func (d *Disk) demote(piece int, to journal.State) error {
	d.verified.clear(piece)
	if to == journal.Missing {
		return d.journal.Forget(piece)
	}
	return d.journal.Doubt(piece)
}

// acceptStale ends the check of a whole content whose files had changed: once every
// piece is verified again, the modification times of its files are the right ones.
func (d *Disk) acceptStale() error {
	if d.Count() < d.m.Pieces() {
		return nil
	}
	for _, s := range d.stale {
		if err := d.journal.SetMTime(s.file, s.mtime); err != nil {
			return err
		}
	}
	d.stale = nil
	// The bytes were found, not written, so there is nothing to flush.
	return d.journal.Mark(d.journal.Next())
}
