package store

import "github.com/mobgrid/mob/peer/store/journal"

// Has implements [Store].
func (d *Disk) Has(piece int) bool { return d.verified.has(piece) }

// Count implements [Store].
func (d *Disk) Count() int { return d.verified.count() }

// Commit implements [Store]. Once a flush has failed, so does Commit; the store has
// to be opened again.
func (d *Disk) Commit(piece int) error {
	_, err := d.commit(piece, false)
	if err == nil {
		d.settle(piece)
	}
	return err
}

// commit is Commit. A piece that was found by hashing is not committed if somebody has begun
// to write to it since: it reports whether it was.
func (d *Disk) commit(piece int, found bool) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return false, err
	}
	if d.failed != nil {
		return false, d.failed
	}
	if d.verified.has(piece) {
		return true, nil
	}
	if found {
		// A write clears the one before it looks at the other: one of the two notices.
		d.verified.set(piece)
		if !d.doubtful.has(piece) {
			d.verified.clear(piece)
			return false, nil
		}
	}
	// Before the record: a flush that covers it covers the files.
	d.setDirty(piece)
	if err := d.journal.Commit(piece); err != nil {
		d.verified.clear(piece)
		return false, err
	}
	d.verified.set(piece)
	d.doubtful.clear(piece)
	d.unsynced += int64(d.m.PieceSize(piece))
	// A whole content that was hashed again is marked at once: no Finish will.
	if again := d.stage.Load() == finished && d.Count() == d.m.Pieces(); (again || d.unsynced >= d.syncEvery) && !d.syncing {
		d.startFlush()
	}
	return true, nil
}

// Forget implements [Store]. If a file of the piece is missing, all pieces of that file
// are missing until it is created again, but the journal keeps them: what is missing may be
// a mount.
func (d *Disk) Forget(piece int) error {
	if err := checkPiece(d.m, piece); err != nil {
		return err
	}
	// Before the lock, which another goroutine may hold while it writes to the
	// journal.
	d.verified.clear(piece)
	missing := d.missingFiles(piece)
	if forgotten, err := d.recordForget(piece, missing); !forgotten || err != nil {
		return err
	}
	err := d.journal.Sync()
	if err != nil {
		d.fail(err)
	}
	return err
}

// missingFiles returns the files of a piece that are not there.
func (d *Disk) missingFiles(piece int) (missing []int) {
	first, after := d.tree.layout.pieceFiles(d.m, piece)
	for file := first; file < after; file++ {
		if d.tree.layout.pad(file) {
			continue
		}
		if info, err := d.tree.stat(file); err == nil && info == nil {
			missing = append(missing, file)
		}
	}
	return missing
}

// recordForget records that a piece is missing, unless it already is or files of it are
// missing.
func (d *Disk) recordForget(piece int, missing []int) (forgotten bool, err error) {
	defer func() {
		for _, file := range missing {
			d.tree.files.dropFile(d.tree, file)
		}
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(piece); err != nil {
		return false, err
	}
	d.verified.clear(piece)
	d.doubtful.clear(piece)
	for _, file := range missing {
		d.absent.set(file)
		d.tree.ready.clear(file)
		d.tree.settled.clear(file)
		d.unload(file)
	}
	if len(missing) == 0 && d.journal.State(piece) != journal.Missing {
		forgotten, err = true, d.demote(piece, journal.Missing)
	}
	if err == nil {
		if !d.journal.Seed() {
			d.stage.Store(filling)
		}
		d.reopen(piece)
	}
	return forgotten, err
}

// demote makes a piece doubtful or missing. The caller holds the lock.
func (d *Disk) demote(piece int, to journal.State) error {
	d.verified.clear(piece)
	if to == journal.Missing {
		d.doubtful.clear(piece)
		return d.journal.Forget(piece)
	}
	d.doubtful.set(piece)
	return d.journal.Doubt(piece)
}
