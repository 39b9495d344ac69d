package peer

import (
	"runtime"

	"github.com/mobgrid/mob/proto"
)

// blockQueue is how many blocks may wait for each worker: enough for the rest of
// a small piece, so that the reader of a fast channel goes on to the next piece.
const blockQueue = 16

// arrival is a block that was asked for and has come.
type arrival struct {
	sess *session
	span proto.Span
	buf  *buffer
}

// workers write blocks to the store and hash them. One channel alone can bring
// more than one CPU can write and hash, so the pieces are spread over several;
// all blocks of a piece go to the same one, in order.
type workers []chan arrival

func newWorkers() workers {
	w := make(workers, max(runtime.GOMAXPROCS(0), 2))
	for i := range w {
		w[i] = make(chan arrival, blockQueue)
	}
	return w
}

// give hands a block to its worker. It blocks while that is behind, which brakes
// the sender. The buffer is the worker's from then on.
func (s *swarm) give(a arrival) {
	select {
	case s.workers[int(a.span.Piece)%len(s.workers)] <- a:
	case <-s.ctx.Done():
		blocks.put(a.buf)
	}
}

// work is the life of one worker.
func (s *swarm) work(in <-chan arrival) {
	for {
		select {
		case a := <-in:
			s.store(a.sess, a.span, a.buf.b)
			blocks.put(a.buf)
		case <-s.ctx.Done():
			return
		}
	}
}
