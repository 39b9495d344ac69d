package journal

import "path/filepath"

// Records of version 1, which has no file records. A file has its number among the files with bytes.
const (
	recordUnverified recordKind = 4  // index: a piece that may exist, a: 1 if it was found, not written
	recordInode      recordKind = 6  // index: a file, a: its inode number, b: flags
	recordMTime      recordKind = 7  // of earlier versions, ignored
	recordWhole      recordKind = 8  // every piece is on the disk, until the next forget
	recordStamp      recordKind = 9  // index: a file, a: the time of its last change, b: its inode number
	recordEntry      recordKind = 10 // as inode, index: an entry without bytes
)

// version1 is a ledger that reads records of version 1.
type version1 struct {
	*ledger
	withBytes             []int // the entries with bytes
	complete, wasComplete bool
}

func (l *version1) valid(r record) bool {
	switch r.kind {
	case recordUnverified:
		return int64(r.index) < int64(len(l.state))
	case recordInode, recordMTime, recordStamp:
		return int64(r.index) < int64(len(l.withBytes))
	case recordWhole:
		return true
	case recordEntry:
		return int64(r.index) < int64(len(l.files))
	}
	return r.kind != recordFile && l.ledger.valid(r)
}

func (l *version1) apply(r record) {
	switch r.kind {
	case recordUnverified:
		l.state[r.index] = Unverified
		if r.a == 1 {
			l.number[r.index] = 0
		} else if l.number[r.index] == 0 {
			l.number[r.index] = r.number // its commit is lost
		}
	case recordInode, recordEntry:
		entry := int(r.index)
		if r.kind == recordInode {
			entry = l.withBytes[entry]
		}
		f := File{Made: r.b&1 != 0, Touched: r.b&2 != 0}
		f.Inode = r.a
		if was := l.files[entry]; was.Inode == f.Inode {
			f.Changed = was.Changed
		}
		l.files[entry] = f
	case recordStamp:
		f := &l.files[l.withBytes[r.index]]
		f.Foreign = f.Inode != r.b
		f.Stamp = Stamp{Changed: int64(r.a), Inode: r.b}
	case recordWhole:
		for i := range l.state {
			l.state[i], l.number[i] = Verified, r.number
		}
		l.mark = r.number + 1
		l.complete, l.wasComplete = true, true
	default:
		l.complete = l.complete && r.kind != recordForget
		l.ledger.apply(r)
	}
}

// upgrade rewrites a journal of version 1, and returns it open. It closes j.
func (j *Journal) upgrade(records []byte) (*Journal, error) {
	defer j.f.Close()
	old := &version1{ledger: newLedger(&j.shape, false)}
	for entry := range j.shape.Entries {
		if first, after := j.shape.PiecesOf(entry); first < after {
			old.withBytes = append(old.withBytes, entry)
		}
	}
	replay(records, old)
	if j.header.Seed && !old.wasComplete {
		return nil, ErrNone // cut off before its first record
	}
	next, err := Create(j.fs, j.path+".2", j.header, j.shape)
	if err != nil {
		return nil, err
	}
	for i := range old.files {
		old.files[i].Final = old.complete && old.files[i].Inode != 0
	}
	if err = next.copyFrom(old); err == nil {
		err = next.Rename(filepath.Base(j.path))
	}
	if err != nil {
		next.f.Close()
		return nil, err
	}
	return next, nil
}

// copyFrom appends records that add up to a ledger of version 1.
func (j *Journal) copyFrom(old *version1) error {
	rehashed := make([]bool, len(old.state)) // pieces of files with a unverified piece
	unverified := make([]bool, len(old.files))
	for _, entry := range old.withBytes {
		first, after := j.shape.PiecesOf(entry)
		for i := first; i < after; i++ {
			unverified[entry] = unverified[entry] || old.state[i] == Unverified
		}
		for i := first; i < after; i++ {
			rehashed[i] = rehashed[i] || unverified[entry]
		}
	}
	lasting := func(i int) bool { return old.number[i] < old.mark || old.number[i] == 0 }
	all := []record{bootRecord(old.boot)}
	pieces := func(kind recordKind, some func(i int) bool) {
		for i := range old.state {
			if some(i) {
				all = append(all, record{kind: kind, index: uint32(i)})
			}
		}
	}
	if j.header.Seed {
		pieces(recordForget, func(i int) bool { return old.state[i] == Missing })
	} else {
		pieces(recordCommit, func(i int) bool { return old.state[i] != Missing && lasting(i) })
	}
	if old.mark > 0 || len(all) > 1 {
		all = append(all, record{kind: recordMark, a: uint64(len(all))})
	}
	if !j.header.Seed {
		pieces(recordCommit, func(i int) bool { return old.state[i] != Missing && !lasting(i) })
	}
	for entry, f := range old.files {
		switch {
		case unverified[entry]:
			all = append(all, fileRecord(entry, f, flagUnverified))
		case f != File{}:
			all = append(all, fileRecord(entry, f, 0))
		}
	}
	pieces(recordCommit, func(i int) bool { return rehashed[i] && old.state[i] == Verified })
	return j.append(all...)
}
