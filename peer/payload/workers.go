package payload

import (
	"context"
	"runtime"
)

// blockQueue is the number of blocks that may wait for one worker: enough for the rest of a small
// piece, so that the reader of a fast channel continues with the next piece.
const blockQueue = 16

// Workers verify blocks. They have separate goroutines since hashing and decoding cost
// more than reading a channel and writing a file. All blocks of one lane go to the same
// worker, in order.
type Workers []chan *Block

// NewWorkers returns as many workers as there are CPUs, at least two. Each needs a
// goroutine that calls Run.
func NewWorkers() Workers {
	w := make(Workers, max(runtime.GOMAXPROCS(0), 2))
	for i := range w {
		w[i] = make(chan *Block, blockQueue)
	}
	return w
}

// Queue hands a block and its buffer to the worker of its lane. It blocks while that is
// behind, until ctx ends.
func (w Workers) Queue(ctx context.Context, b *Block) {
	select {
	case w[int(b.Lane)%len(w)] <- b:
	case <-ctx.Done():
		b.release()
	}
}

// Run has worker i verify blocks until ctx ends. A block without a buffer has the worker discard
// the piece of its lane.
func (w Workers) Run(ctx context.Context, i int, codec Codec) {
	for {
		select {
		case b := <-w[i]:
			if b.Buf == nil {
				codec.Discard(int(b.Lane))
				continue
			}
			codec.Verify(b)
			b.release()
		case <-ctx.Done():
			return
		}
	}
}
