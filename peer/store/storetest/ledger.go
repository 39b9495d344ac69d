package storetest

import "sync"

// Ledger is a set of pieces, for what wants to know which are verified. Its zero value
// is empty. Safe for concurrent use.
type Ledger struct {
	mu  sync.Mutex
	has map[uint32]bool
}

// Has says whether a piece is in it.
func (l *Ledger) Has(piece uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.has[piece]
}

// Add puts a piece in.
func (l *Ledger) Add(piece uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has == nil {
		l.has = map[uint32]bool{}
	}
	l.has[piece] = true
}

// Remove takes a piece out.
func (l *Ledger) Remove(piece uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.has, piece)
}

// Len is how many are in it.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.has)
}
