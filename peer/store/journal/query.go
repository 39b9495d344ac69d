package journal

// Seed reports whether the content is shared from where it was found.
func (j *Journal) Seed() bool { return j.header.Seed }

// State is what is known of a piece.
func (j *Journal) State(piece int) State { return j.ledger.state[piece] }

// Unmarked returns the verified pieces that are not known to be on the disk.
func (j *Journal) Unmarked() []int { return j.ledger.verifiedFrom(j.ledger.mark) }

// Whole reports whether the content is whole.
func (j *Journal) Whole() bool { return j.ledger.whole }

// Inode is the number of a file on the disk, 0 when it was not told.
func (j *Journal) Inode(file int) uint64 { return j.ledger.inodes[file] }

// MTime is when a file was last modified, in Unix nanoseconds, if it was told.
func (j *Journal) MTime(file int) (mtime int64, ok bool) {
	mtime, ok = j.ledger.mtimes[uint32(file)]
	return mtime, ok
}

// Next is the number of the next record, which are counted from 0.
func (j *Journal) Next() uint32 { return j.next }
