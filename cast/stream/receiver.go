package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
)

// ReceiverConfig configures a [Receiver].
type ReceiverConfig struct {
	// Node fetches and serves the pieces.
	Node *peer.Node
	// Key is the key that signs the records.
	Key crypto.PubKey
	// Peers are the addresses of the sender, which ends with its peer id. It is the tracker of the stream.
	Peers []ma.Multiaddr
	// Spool bounds what is on the disk, in bytes, and Dir is where. An empty Dir is that of the system
	// for temporary files.
	Spool int64
	Dir   string
}

// Receiver gets one stream, and passes it on to its neighbours. Its methods may be called from any
// goroutine.
type Receiver struct {
	cfg    ReceiverConfig
	space  *space
	epoch  uint64          // pieces of an epoch
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards what follows; nothing under it waits
	changed  chan struct{}
	chain    chain
	parts    queue             // that were announced, until they are of no use any more
	pieces   uint64            // that were announced
	epochs   map[uint64]*epoch // whose swarms the node is in
	missing  int               // parts that are on their way
	next     uint64            // the part to fetch next
	held     uint64            // all parts below are whole
	given    uint64            // all parts below were given to the consumer
	kept     uint64            // all parts below are freed, or nobody else needs them
	released uint64            // all records below are with all receivers
	bytes    int64             // that the consumer took
	waiting  string            // what fetching waits for, in words
	err      error
}

// ReceiverStats is how far a [Receiver] is.
type ReceiverStats struct {
	// Bytes is what the consumer has taken.
	Bytes int64
	// Memory and Spool are the bytes in use. Spool is 0 unless the consumer lags far behind.
	Memory, Spool int64
	// Waiting says why nothing more is fetched at present, in words. It is empty if that is not so.
	Waiting string
}

// NewReceiver returns a receiver that fetches what [Receiver.Add] announces, until Close.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	if _, err := epochLink(cfg.Key, 0); err != nil {
		return nil, err
	}
	r := &Receiver{
		cfg:     cfg,
		space:   newSpace(cfg.Dir, cfg.Spool),
		epoch:   epochPieces,
		changed: make(chan struct{}),
		epochs:  map[uint64]*epoch{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.wg.Go(r.fetch)
	return r, nil
}

// Close leaves all swarms, and forgets the stream. A call of Run that is under way fails.
func (r *Receiver) Close() {
	r.mu.Lock()
	r.fail(errClosed)
	r.mu.Unlock()
	r.cancel()
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parts.parts {
		r.free(p)
	}
	r.space.close()
}

// change says that the state has changed. The caller has the lock.
func (r *Receiver) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// fail ends the stream at this node. The caller has the lock.
func (r *Receiver) fail(err error) {
	if r.err == nil {
		r.err = err
		r.change()
	}
}

// Add takes in the next record. It fails if that is not what the sender published next, and then so
// does Run. It does not block.
func (r *Receiver) Add(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	rec, err := r.chain.open(r.cfg.Key, b)
	switch {
	case err != nil:
		r.fail(err)
		return err
	case rec.Error != "":
		r.fail(fmt.Errorf("the stream was cut off at its source: %s", rec.Error))
	case len(rec.Rest) > 0:
		r.parts.parts = append(r.parts.parts, &part{record: rec.Number, rest: rec.Rest})
	}
	for i := range rec.pieces() {
		p := &piece{space: r.space}
		p.sum, p.size = rec.piece(i)
		r.parts.parts = append(r.parts.parts, &part{record: rec.Number, number: r.pieces, piece: p})
		r.pieces++
	}
	r.change()
	return nil
}

// Held returns the number of the first record of which not all is here.
func (r *Receiver) Held() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heldRecord()
}

// heldRecord is Held for callers with the lock. The end is none of the records.
func (r *Receiver) heldRecord() uint64 {
	if p := r.parts.at(r.held); p != nil {
		return p.record
	}
	if r.chain.ended {
		return r.chain.next - 1
	}
	return r.chain.next
}

// Stats returns how far the receiver is. It does not block.
func (r *Receiver) Stats() ReceiverStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := ReceiverStats{Bytes: r.bytes, Waiting: r.waiting}
	st.Memory, st.Spool = r.space.used()
	return st
}

// Release says that every receiver has what the records below n announce: nobody needs to be served with
// it any more. It fails if this one lacks some, and then so does Run: nobody has it for it.
func (r *Receiver) Release(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = max(r.released, n)
	if held := r.heldRecord(); held < r.released {
		r.fail(fmt.Errorf("record %d is gone at its source before it was here: this host was given up", held))
		return r.err
	}
	r.settle()
	return nil
}

// settle forgets what was released and is with the consumer. The caller has the lock.
func (r *Receiver) settle() {
	for r.parts.first < r.given {
		p := r.parts.at(r.parts.first)
		if p.record >= r.released {
			break
		}
		r.free(p)
		r.parts.pop()
		r.change()
	}
	r.kept = max(r.kept, r.parts.first)
	first := r.firstPiece()
	for number, e := range r.epochs {
		if (number+1)*r.epoch <= first {
			r.leave(e)
		}
	}
}

// firstPiece returns the number of the first piece that is needed. The caller has the lock.
func (r *Receiver) firstPiece() uint64 {
	for _, p := range r.parts.parts {
		if p.rest == nil {
			return p.number
		}
	}
	return r.pieces
}

// leave leaves the swarm of an epoch, in the background. The caller has the lock.
func (r *Receiver) leave(e *epoch) {
	delete(r.epochs, e.number)
	r.wg.Go(func() { e.leave(r.cfg.Node) })
}

// free frees a part. The caller has the lock.
func (r *Receiver) free(p *part) {
	switch {
	case p.freed:
	case p.epoch != nil:
		p.epoch.drop(int(p.number % r.epoch))
	case p.rest != nil && p.whole:
		p.piece.free()
	}
	p.freed = true
}

// await waits until the state has changed. The caller has the lock. It reports false if the receiver
// or ctx has ended.
func (r *Receiver) await(ctx context.Context) bool {
	changed := r.changed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	case <-r.ctx.Done():
	}
	return ctx.Err() == nil && r.ctx.Err() == nil
}

// errClosed is returned by Run after Close.
var errClosed = errors.New("the receiver is closed")

// Run writes the stream to w, in order, until its end, and returns how many bytes it wrote. It returns
// nil only if the sender has said that this is all. If w fails, Run returns that error, and the node
// goes on to fetch and to serve its neighbours until Close. Run is called once. A Write of w that is
// under way must return for Run to return.
func (r *Receiver) Run(ctx context.Context, w io.Writer) (int64, error) {
	n, err := r.deliver(ctx, w)
	var consumer *consumerError
	if errors.As(err, &consumer) {
		r.wg.Go(func() { _, _ = r.deliver(r.ctx, io.Discard) })
		err = consumer.error
	}
	return n, err
}

// deliver writes what was not given to the consumer yet.
func (r *Receiver) deliver(ctx context.Context, w io.Writer) (int64, error) {
	buf := make([]byte, pieceSize)
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		p := r.parts.at(r.given)
		switch {
		case r.err != nil:
			return r.bytes, r.err
		case ctx.Err() != nil:
			return r.bytes, context.Cause(ctx)
		case p == nil && r.chain.ended:
			return r.bytes, nil
		case p == nil || !p.whole || p.busy:
			r.await(ctx)
			continue
		}
		p.busy = true
		r.mu.Unlock()
		n, err := p.deliver(w, buf)
		r.mu.Lock()
		r.bytes += int64(n)
		p.busy = false
		r.given++
		var consumer *consumerError
		if err != nil && !errors.As(err, &consumer) {
			r.fail(err)
		}
		r.settle()
		r.change()
		if err != nil {
			return r.bytes, err
		}
	}
}
