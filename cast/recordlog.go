package cast

import "sync"

// recordLog has the records of a stream that not every host has. Its methods may be called from any
// goroutine.
type recordLog struct {
	mu      sync.Mutex
	first   uint64 // number of records[0]: all hosts have what those below announce
	records [][]byte
	changed chan struct{} // closed with the next change; nil if nobody waits
}

// add adds the next record.
func (l *recordLog) add(record []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, record)
	l.wake()
}

// release drops the records below a number, and returns the first that is left. It reports whether that
// is news.
func (l *recordLog) release(n uint64) (first uint64, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = min(n, l.first+uint64(len(l.records)))
	if n <= l.first {
		return l.first, false
	}
	l.records = append([][]byte{}, l.records[n-l.first:]...)
	l.first = n
	l.wake()
	return n, true
}

// wake wakes those who wait for a change. The caller has the lock.
func (l *recordLog) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// from returns the records from a number on, the first that was not released, and what is closed with
// the next change.
func (l *recordLog) from(n uint64) (records [][]byte, first uint64, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	skip := min(max(n, l.first)-l.first, uint64(len(l.records)))
	return l.records[skip:], l.first, l.changed
}
