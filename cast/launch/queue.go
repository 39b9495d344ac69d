package launch

import (
	"io"
	"sync"
)

// queue contains bytes until they are written. Its methods may be called by several goroutines, copy by one.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	data    []byte
	size    int  // bytes in data, and those that are being written
	ended   bool // no more is added
}

func (q *queue) init() { q.changed.L = &q.mu }

// add adds bytes, or ends the queue. It returns the number of bytes that are not written.
func (q *queue) add(b []byte, end bool) (size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.data = append(q.data, b...)
	q.size += len(b)
	q.ended = q.ended || end
	q.changed.Broadcast()
	return q.size
}

// copy writes the bytes to w until the end, and calls written after each write.
func (q *queue) copy(w io.Writer, written func(n int)) {
	for {
		q.mu.Lock()
		for len(q.data) == 0 && !q.ended {
			q.changed.Wait()
		}
		b := q.data
		q.data = nil
		q.mu.Unlock()
		if len(b) == 0 {
			return
		}
		_, _ = w.Write(b) // fails if the command has exited
		q.mu.Lock()
		q.size -= len(b)
		q.mu.Unlock()
		written(len(b))
	}
}
