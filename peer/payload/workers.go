package payload

import (
	"context"
	"runtime"
)

// blockQueue is how many blocks may wait for each worker: enough for the rest of
// a small piece, so that the reader of a fast channel goes on to the next piece.
const blockQueue = 16

// Workers hash and decode blocks. Whoever reads a channel also writes to the file, since
// the kernel lets only one write to a file at a time; hashing costs more than either,
// so it has CPUs of its own. All blocks of a piece, or of a generation,
// go to the same worker, in order.
type Workers []chan Arrival

// NewWorkers are as many as there are CPUs, at least two.
func NewWorkers() Workers {
	w := make(Workers, max(runtime.GOMAXPROCS(0), 2))
	for i := range w {
		w[i] = make(chan Arrival, blockQueue)
	}
	return w
}

// Give begins to take in a block, and hands it to its worker. It blocks while that is
// behind, which brakes the sender. The buffer is the worker's from then on. An error
// ends the swarm.
func (w Workers) Give(ctx context.Context, f *Form, a Arrival) error {
	if err := f.Place(&a); err != nil {
		Put(a.Buf)
		return err
	}
	select {
	case w[int(a.Span.Piece/f.lane)%len(w)] <- a:
	case <-ctx.Done():
		Put(a.Buf)
	}
	return nil
}

// Work is the life of worker i.
func (w Workers) Work(ctx context.Context, f *Form, i int) {
	for {
		select {
		case a := <-w[i]:
			f.Take(a)
			Put(a.Buf)
		case <-ctx.Done():
			return
		}
	}
}
