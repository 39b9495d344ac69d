package journal

// The methods here append one record each. They do not wait for the disk; Sync
// does.

// Boot begins a session under that boot of the machine. If it is another one than
// that of the records before, or either is unknown, the verified pieces that no
// mark covers become doubtful. Within the same boot it does nothing.
func (j *Journal) Boot(id BootID) error {
	if j.ledger.booted && j.ledger.boot == id && id != (BootID{}) {
		return nil
	}
	return j.append(bootRecord(id))
}

// Commit makes a piece verified.
func (j *Journal) Commit(piece int) error {
	return j.append(record{kind: recordCommit, index: uint32(piece)})
}

// Forget makes a piece missing.
func (j *Journal) Forget(piece int) error {
	return j.append(record{kind: recordForget, index: uint32(piece)})
}

// Doubt makes a piece doubtful.
func (j *Journal) Doubt(piece int) error {
	return j.append(record{kind: recordDoubt, index: uint32(piece)})
}

// Mark says that what was committed before Next returned covers is on the disk.
func (j *Journal) Mark(covers uint32) error {
	return j.append(record{kind: recordMark, a: uint64(covers)})
}

// SetInode says which file on the disk the content's file is.
func (j *Journal) SetInode(file int, inode uint64) error {
	return j.append(record{kind: recordInode, index: uint32(file), a: inode})
}

// SetMTime says when a file was last modified, in Unix nanoseconds.
func (j *Journal) SetMTime(file int, mtime int64) error {
	return j.append(record{kind: recordMTime, index: uint32(file), a: uint64(mtime)})
}

// Complete makes every piece verified and on the disk, and the content whole.
func (j *Journal) Complete() error { return j.append(record{kind: recordWhole}) }
