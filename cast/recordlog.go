package cast

import (
	"slices"
	"sync"
)

// recordLog contains the records of a stream that some host does not have. Its methods may be called from any goroutine.
type recordLog struct {
	mu      sync.Mutex
	first   uint64 // number of records[0]: all hosts have the records below
	records [][]byte
	changed chan struct{} // closed with the next change; nil without a waiter
}

// add adds the next record.
func (l *recordLog) add(record []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, record)
	l.wake()
}

// release drops the records below a number.
func (l *recordLog) release(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = min(n, l.first+uint64(len(l.records))); n > l.first {
		l.records = slices.Clone(l.records[n-l.first:])
		l.first = n
		l.wake()
	}
}

// wake closes changed. The caller holds the lock.
func (l *recordLog) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// from returns the records from a number on, the number of the first remaining record, and a channel that is closed with the next
// change.
func (l *recordLog) from(n uint64) (records [][]byte, first uint64, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	skip := min(max(n, l.first)-l.first, uint64(len(l.records)))
	return l.records[skip:], l.first, l.changed
}
