package peer

import (
	"runtime"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/assembly"
	"github.com/mobgrid/mob/proto"
)

// blockQueue is how many blocks may wait for each worker: enough for the rest of
// a small piece, so that the reader of a fast channel goes on to the next piece.
const blockQueue = 16

// arrival is a block that was asked for, has come, and is written.
type arrival struct {
	sess  *session
	span  proto.Span
	parts []proto.Span // of span: what was new
	buf   *Buffer
}

// workers hash blocks. Whoever reads a channel also writes to the file, since the
// kernel lets only one write to a file at a time; hashing costs more than either,
// so it has CPUs of its own. All blocks of a piece go to the same worker, in order.
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
			s.judge(a)
			blocks.put(a.buf)
		case <-s.ctx.Done():
			return
		}
	}
}

// judge hashes a block and tells the loop what became of it.
func (s *swarm) judge(a arrival) {
	s.post(input{ev: mob.Arrived{Peer: a.sess.id(), Span: a.span}, sess: a.sess})
	for _, part := range a.parts {
		from := part.Begin - a.span.Begin
		v, sources, err := s.asm.Take(part, a.buf.B[from:from+part.Length], a.sess.id())
		if err != nil {
			s.fail(err)
			return
		}
		switch v {
		case assembly.PieceStored:
			s.verified.add(part.Piece)
			s.post(input{ev: mob.Stored{Piece: int(part.Piece)}})
		case assembly.PieceFailed:
			s.log.Warn("piece failed its hash", "piece", part.Piece, "sources", len(sources))
			s.count.Failed(s.m.PieceSize(int(part.Piece)))
			s.post(input{ev: mob.Failed{Piece: int(part.Piece), Sources: sources}})
		}
	}
}
