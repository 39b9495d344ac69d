package journal

// State is the state of a piece. Higher is better.
type State uint8

const (
	// Missing pieces are not there.
	Missing State = iota
	// Unverified pieces are likely there and have to be hashed again.
	Unverified
	// Verified pieces are stored.
	Verified
)

// Shape describes the content of a journal.
type Shape struct {
	// Pieces and Entries are the numbers of pieces and entries. The root of the content is one more entry, the last.
	Pieces, Entries int
	// PiecesOf returns the pieces that an entry overlaps: first to after-1.
	PiecesOf func(entry int) (first, after int)
}

// ledger is the sum of the records of a journal. Each record is applied to it
// once, in order, whether it was just written or is read back.
type ledger struct {
	shape  *Shape
	state  []State
	number []uint32 // of the commit record of each piece, 0 if it is on the disk
	files  []File   // of each entry, zero if not known
	mark   uint32   // commits with a lower number are on the disk
	boot   BootID   // of the last records, if it is known
	booted bool
}

func newLedger(shape *Shape, seed bool) *ledger {
	l := &ledger{
		shape:  shape,
		state:  make([]State, shape.Pieces),
		number: make([]uint32, shape.Pieces),
		files:  make([]File, shape.Entries+1),
	}
	if seed {
		for i := range l.state {
			l.state[i] = Verified
		}
		l.mark = 1
	}
	return l
}

// valid reports whether r can be a record of this journal.
func (l *ledger) valid(r record) bool {
	switch r.kind {
	case recordCommit, recordForget:
		return int64(r.index) < int64(len(l.state))
	case recordFile:
		return int64(r.index) < int64(len(l.files))
	case recordMark:
		return r.a <= uint64(r.number)
	case recordBoot:
		return true
	}
	return false
}

// apply applies a valid record.
func (l *ledger) apply(r record) {
	switch r.kind {
	case recordBoot:
		id := r.boot()
		// Two unknown boots may differ.
		if l.booted && (id != l.boot || id == BootID{}) {
			l.unverifyFrom(l.mark)
		}
		if !l.booted || id != (BootID{}) {
			l.boot, l.booted = id, true
		}
	case recordCommit:
		l.state[r.index] = Verified
		l.number[r.index] = r.number
	case recordForget:
		l.state[r.index] = Missing
	case recordMark:
		if r.flags&flagAll != 0 {
			for i := range l.state {
				l.state[i], l.number[i] = Verified, 0
			}
		}
		l.mark = max(l.mark, uint32(r.a))
	case recordFile:
		f, was := r.file(), l.files[r.index]
		if f.Born == 0 && f.Inode == was.Inode && !f.Foreign {
			f.Born = was.Born
		}
		l.files[r.index] = f
		if r.flags&(flagUnverified|flagFound) != 0 {
			l.unverifyFile(int(r.index), r.flags&flagFound != 0)
		}
	}
}

// unverifyFile makes the verified pieces of a file unverified, or all its pieces if they were found.
func (l *ledger) unverifyFile(entry int, found bool) {
	if entry == l.shape.Entries { // the root
		return
	}
	first, after := l.shape.PiecesOf(entry)
	for i := first; i < after; i++ {
		if found {
			l.number[i] = 0
		}
		if found || l.state[i] == Verified {
			l.state[i] = Unverified
		}
	}
}

// unverifyFrom makes the verified pieces unverified whose commits are numbered from or
// higher.
func (l *ledger) unverifyFrom(from uint32) {
	for _, i := range l.verifiedFrom(from) {
		l.state[i] = Unverified
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
