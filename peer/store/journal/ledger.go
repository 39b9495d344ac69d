package journal

// State is the state of a piece. Higher is better.
type State uint8

const (
	// Missing pieces are not there.
	Missing State = iota
	// Doubtful pieces are likely there and have to be hashed again.
	Doubtful
	// Verified pieces are there.
	Verified
)

// ledger is what the records of a journal add up to. Each record is applied to it
// once, in order, whether it was just written or is read back.
type ledger struct {
	state  []State
	number []uint32 // of the commit record of each piece, 0 if it was found
	files  []File   // zero if not known
	stamps []Stamp  // of each file, zero if there is none
	mark   uint32   // commits with a lower number are on the disk
	boot   BootID   // of the last records
	booted bool     // boot is set

	entries map[uint32]File // see SetEntry

	whole     bool // and no piece was forgotten since
	completed bool // was whole once
}

func newLedger(pieces, files int) *ledger {
	return &ledger{
		state:  make([]State, pieces),
		number: make([]uint32, pieces),
		files:  make([]File, files),
		stamps: make([]Stamp, files),

		entries: make(map[uint32]File),
	}
}

// valid reports whether r can be a record of this journal.
func (l *ledger) valid(r record) bool {
	switch r.kind {
	case recordCommit, recordForget, recordDoubt:
		return int64(r.index) < int64(len(l.state))
	case recordInode, recordMTime, recordStamp:
		return int64(r.index) < int64(len(l.files))
	case recordMark:
		return r.a <= uint64(r.number)
	case recordBoot, recordWhole, recordEntry:
		return true
	}
	return false
}

// apply applies a valid record.
func (l *ledger) apply(r record) {
	switch r.kind {
	case recordBoot:
		// Two unknown boots may differ.
		if id := r.boot(); l.booted && (id != l.boot || id == BootID{}) {
			l.doubtFrom(l.mark)
		}
		l.boot, l.booted = r.boot(), true
	case recordCommit:
		l.state[r.index] = Verified
		l.number[r.index] = r.number
	case recordForget:
		l.state[r.index] = Missing
		l.whole = false
	case recordDoubt:
		l.state[r.index] = Doubtful
		if r.a == 1 {
			l.number[r.index] = 0
		} else if l.number[r.index] == 0 {
			l.number[r.index] = r.number // its commit is lost
		}
	case recordMark:
		l.mark = max(l.mark, uint32(r.a))
	case recordInode:
		l.files[r.index] = r.file()
	case recordEntry:
		l.entries[r.index] = r.file()
	case recordStamp:
		l.stamps[r.index] = Stamp{Changed: int64(r.a), Inode: r.b}
	case recordWhole:
		for i := range l.state {
			l.state[i] = Verified
			l.number[i] = r.number
		}
		l.mark = r.number + 1
		l.whole, l.completed = true, true
	}
}

// doubtFrom makes the verified pieces doubtful whose commits are numbered from or
// higher.
func (l *ledger) doubtFrom(from uint32) {
	for _, i := range l.verifiedFrom(from) {
		l.state[i] = Doubtful
	}
}

// verifiedFrom returns the verified pieces whose commits are numbered from or higher.
func (l *ledger) verifiedFrom(from uint32) []int {
	var pieces []int
	for i, s := range l.state {
		if s == Verified && l.number[i] >= from {
			pieces = append(pieces, i)
		}
	}
	return pieces
}
