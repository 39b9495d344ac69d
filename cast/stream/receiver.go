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
	// Peers are the addresses of the sender, with its peer id. It is the tracker of the stream.
	Peers []ma.Multiaddr
	// Spool bounds the size of the spool in bytes. Dir is its directory, by default [os.TempDir].
	Spool int64
	Dir   string
}

// Receiver receives one stream, and serves it to its neighbors. Its methods may be called from any goroutine.
type Receiver struct {
	cfg    ReceiverConfig
	space  *space
	epoch  uint64          // pieces of an epoch
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards the fields below; not held while waiting
	changed  chan struct{}
	chain    chain
	parts    queue             // announced parts, until they are released
	pieces   uint64            // number of announced pieces
	epochs   map[uint64]*epoch // joined swarms
	missing  int               // parts in flight
	next     uint64            // the part to fetch next
	held     uint64            // all parts below are complete
	given    uint64            // all parts below were written to the consumer
	kept     uint64            // all parts below are freed or released
	released uint64            // all receivers have the records below
	bytes    int64             // written to the consumer
	waiting  string            // what fetching waits for
	err      error
}

// ReceiverStats is the state of a [Receiver].
type ReceiverStats struct {
	// Bytes is the number of bytes that the consumer has taken.
	Bytes int64
	// Held is the number of the first incomplete record. The last record, which ends the stream, does not count.
	Held uint64
	// Waiting is the reason why no more is fetched now, or empty.
	Waiting string
}

// NewReceiver returns a receiver that fetches the pieces of records from [Receiver.Add] until Close.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	r := &Receiver{
		cfg:     cfg,
		space:   newSpace(cfg.Dir, cfg.Spool),
		epoch:   epochPieces,
		changed: make(chan struct{}),
		epochs:  map[uint64]*epoch{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.wg.Go(r.fetch)
	return r
}

// Close leaves all swarms and frees everything. A running Run fails.
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

// change wakes await. The caller holds the lock.
func (r *Receiver) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// fail ends the stream at this node. The caller holds the lock.
func (r *Receiver) fail(err error) {
	if r.err == nil {
		r.err = err
		r.change()
	}
}

// Add adds the next record. If it is invalid, Add and Run fail. It does not block.
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

// heldRecord implements Held of [ReceiverStats]. The caller holds the lock.
func (r *Receiver) heldRecord() uint64 {
	if p := r.parts.at(r.held); p != nil {
		return p.record
	}
	if r.chain.ended {
		return r.chain.next - 1
	}
	return r.chain.next
}

// Stats returns the state. It does not block.
func (r *Receiver) Stats() ReceiverStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ReceiverStats{Bytes: r.bytes, Held: r.heldRecord(), Waiting: r.waiting}
}

// Release reports that every receiver has the records below n, which need not be served any more. If this receiver does not have
// them, Release and Run fail, since it cannot fetch them.
func (r *Receiver) Release(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = max(r.released, n)
	if held := r.heldRecord(); held < r.released {
		r.fail(fmt.Errorf("record %d was released at its source before it was received: this host was given up", held))
		return r.err
	}
	r.settle()
	return nil
}

// settle frees the parts that were released and written to the consumer. The caller holds the lock.
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

// firstPiece returns the number of the first piece that is needed. The caller holds the lock.
func (r *Receiver) firstPiece() uint64 {
	for _, p := range r.parts.parts {
		if p.rest == nil {
			return p.number
		}
	}
	return r.pieces
}

// leave leaves the swarm of an epoch in the background. The caller holds the lock.
func (r *Receiver) leave(e *epoch) {
	delete(r.epochs, e.number)
	r.wg.Go(func() { e.leave(r.cfg.Node) })
}

// free frees a part. The caller holds the lock.
func (r *Receiver) free(p *part) {
	switch {
	case p.freed:
	case p.epoch != nil:
		p.epoch.drop(int(p.number % r.epoch))
	case p.rest != nil && p.complete:
		p.piece.free()
	}
	p.freed = true
}

// await waits until the state changes, or the receiver or ctx ends. The caller holds the lock, which is released during that.
func (r *Receiver) await(ctx context.Context) {
	changed := r.changed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	case <-r.ctx.Done():
	}
}

// errClosed is returned by Run after Close.
var errClosed = errors.New("the receiver is closed")

// Run writes the stream to w in order, and returns the number of bytes. The error is nil only after the end of the stream. If w
// fails, Run returns that error, and the receiver still fetches and serves until Close. Run is called once. It returns after
// a running Write of w.
func (r *Receiver) Run(ctx context.Context, w io.Writer) (int64, error) {
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
		case p == nil || !p.complete || p.busy:
			r.await(ctx)
			continue
		}
		p.busy = true
		r.mu.Unlock()
		b, err := p.bytes(buf)
		n, failed := 0, error(nil) // of w
		if err == nil {
			n, failed = w.Write(b)
		}
		r.mu.Lock()
		r.bytes += int64(n)
		p.busy = false
		r.given++
		if err != nil {
			r.fail(err)
		}
		r.settle()
		r.change()
		if failed != nil {
			r.wg.Go(func() { _, _ = r.Run(r.ctx, io.Discard) })
			return r.bytes, failed
		}
	}
}
