package store

import "github.com/mobgrid/mob/peer/store/journal"

// Commit implements [Ledger]. It fails when the disk failed to take what was
// written before; the store has to be opened again then.
func (d *Disk) Commit(piece int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return err
	}
	if d.syncErr != nil {
		return d.syncErr
	}
	if d.journal.State(piece) == journal.Verified {
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

// Forget implements [Ledger].
func (d *Disk) Forget(piece int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return err
	}
	if d.journal.State(piece) == journal.Missing {
		return nil
	}
	if err := d.journal.Forget(piece); err != nil {
		return err
	}
	d.verified.clear(piece)
	return d.journal.Sync()
}

// acceptStale ends the check of a whole content that was found changed: once
// every piece is verified again, the times its files have now are the right ones.
func (d *Disk) acceptStale() error {
	if d.journal.Unverified() > 0 {
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
