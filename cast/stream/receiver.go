package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// ReceiverConfig configures a [Receiver].
type ReceiverConfig struct {
	// Node fetches and serves the segments.
	Node *peer.Node
	// Key is the key that signs the records.
	Key crypto.PubKey
	// Finder finds the other receivers and the sender: a client of the tracker that the sender
	// announces itself to. The receiver does not close it.
	Finder peer.Finder
	// Peers are the addresses of the sender, which ends with its peer id. They are dialled while no
	// member is known.
	Peers []ma.Multiaddr
	// Spool bounds what is on the disk, in bytes, and Dir is where. An empty Dir is that of the system
	// for temporary files.
	Spool int64
	Dir   string
}

// Receiver gets one stream, and passes it on to its neighbours. Its methods may be called from any
// goroutine.
type Receiver struct {
	cfg     ReceiverConfig
	space   *space
	members *members
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex // guards what follows; nothing under it waits
	changed  chan struct{}
	chain    chain
	segments map[uint64]*segment // that were announced, until their bytes are of no use any more
	next     uint64              // the segment to fetch next
	fetching int                 // segments that are fetched now
	missing  int64               // bytes of them that are not here
	held     uint64              // all segments below are whole
	given    uint64              // all segments below were given to the consumer
	released uint64              // all segments below are with all receivers
	end      uint64              // the number of segments, once chain.ended
	bytes    int64               // that the consumer took
	waiting  string              // what fetching waits for, in words
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

// segment is a segment at a receiver. The receiver's lock guards it.
type segment struct {
	number   uint64
	encoded  []byte // the manifest, until it is fetched
	manifest *proto.Manifest
	content  *content // nil before it is fetched
	transfer *peer.Transfer

	whole   bool
	busy    bool // it moves to the spool, or is given to the consumer
	given   bool // to the consumer
	leaving bool // its swarm
	left    bool // its swarm
}

// NewReceiver returns a receiver that fetches what [Receiver.Add] announces, until Close.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	_, swarm, err := streamName(cfg.Key)
	if err != nil {
		return nil, err
	}
	r := &Receiver{
		cfg:      cfg,
		space:    newSpace(cfg.Dir, cfg.Spool),
		members:  newMembers(cfg.Node, cfg.Finder, swarm),
		changed:  make(chan struct{}),
		segments: map[uint64]*segment{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.wg.Go(func() { r.members.run(r.ctx) })
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
	all := r.segments
	r.segments = nil
	r.mu.Unlock()
	for _, s := range all {
		if s.content != nil {
			s.content.free()
		}
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
	if err == nil && !rec.isEnd() {
		s := &segment{number: rec.Number, encoded: rec.Manifest}
		if s.manifest, err = checkManifest(rec.Manifest); err == nil {
			r.segments[s.number] = s
		}
	}
	switch {
	case err != nil:
		r.fail(err)
	case rec.Error != "":
		r.fail(fmt.Errorf("the stream was cut off at its source: %s", rec.Error))
	case rec.isEnd():
		r.end = rec.Number
	}
	r.change()
	return err
}

// Held returns the number of the first segment that is not whole: all below are here.
func (r *Receiver) Held() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Stats returns how far the receiver is. It does not block.
func (r *Receiver) Stats() ReceiverStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := ReceiverStats{Bytes: r.bytes, Waiting: r.waiting}
	st.Memory, st.Spool = r.space.used()
	return st
}

// Release says that every receiver has the segments below n: nobody needs to be served with them any
// more. It fails if this one lacks some, and then so does Run: nobody has them for it.
func (r *Receiver) Release(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = max(r.released, n)
	if r.held < r.released {
		r.fail(fmt.Errorf("segment %d is gone at its source before it was here: this host was given up", r.held))
		return r.err
	}
	for _, s := range r.segments {
		r.settle(s)
	}
	r.change()
	return nil
}

// settle leaves the swarm of a segment that was released, and forgets the segment when that is done and
// the consumer has it. The caller has the lock.
func (r *Receiver) settle(s *segment) {
	if s.number < r.released {
		r.leave(s)
	}
	if s.left && s.given {
		delete(r.segments, s.number)
		s.content.free()
		r.change()
	}
}

// leave leaves the swarm of a segment, in the background. The caller has the lock.
func (r *Receiver) leave(s *segment) {
	if s.leaving || s.transfer == nil {
		return
	}
	s.leaving = true
	r.wg.Go(func() {
		_, _ = r.cfg.Node.Remove(s.transfer, false) // fails only if the node closes, which ends it too
		r.mu.Lock()
		defer r.mu.Unlock()
		s.left = true
		r.settle(s)
	})
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

// maxFetching bounds the segments that are fetched at once. Only whole ones are given to the consumer, in
// order, so a segment is begun only when less is missing of those before it than two of its size: then
// links are not idle at the end of each, nor while a few pieces of one are held up.
const maxFetching = 8

// isFull reports whether enough is fetched already. The caller has the lock.
func (r *Receiver) isFull(next *segment) bool {
	return r.fetching == maxFetching || r.missing >= 2*next.manifest.Length()
}

// fetch fetches segments until the receiver is closed, or fails.
func (r *Receiver) fetch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		for _, s := range r.segments {
			r.leave(s)
		}
	}()
	for r.ctx.Err() == nil {
		s := r.segments[r.next]
		if s == nil || r.err != nil || r.isFull(s) {
			r.await(r.ctx)
			continue
		}
		blocks, waiting := r.makeRoom(s)
		if blocks == nil {
			r.waiting = waiting
			r.await(r.ctx)
			continue
		}
		r.waiting = ""
		r.next++
		r.fetching++
		r.missing += s.manifest.Length()
		r.begin(s, blocks)
	}
}

// makeRoom takes memory for a segment, or says what it waits for. It leaves the swarms of what the
// consumer has, the oldest first, and then moves what the consumer is farthest from to the spool. The
// caller has the lock, which is free meanwhile.
func (r *Receiver) makeRoom(s *segment) (blocks [][]byte, waiting string) {
	for r.ctx.Err() == nil {
		if blocks := r.space.take(blocksOf(s.manifest.Length()), false); blocks != nil {
			return blocks, ""
		}
		if old := r.oldestGiven(); old != nil {
			if old.leaving {
				return nil, ""
			}
			r.leave(old)
			return nil, ""
		}
		far := r.newestWaiting()
		if far == nil {
			return nil, "the consumer: what waits for it fills the memory"
		}
		far.busy = true
		r.mu.Unlock()
		err := far.content.toSpool()
		r.mu.Lock()
		far.busy = false
		r.change()
		switch {
		case errors.Is(err, errSpoolFull):
			return nil, "the consumer: what waits for it fills memory and spool"
		case err != nil:
			r.fail(err)
			return nil, ""
		}
	}
	return nil, ""
}

// oldestGiven returns the oldest segment that the consumer has and that is kept for neighbours.
func (r *Receiver) oldestGiven() (oldest *segment) {
	for _, s := range r.segments {
		if s.given && s.whole && (oldest == nil || s.number < oldest.number) {
			oldest = s
		}
	}
	return oldest
}

// newestWaiting returns the newest whole segment in memory that the consumer waits for.
func (r *Receiver) newestWaiting() (newest *segment) {
	for _, s := range r.segments {
		if s.whole && !s.given && !s.busy && (newest == nil || s.number > newest.number) && s.content.inMemory() {
			newest = s
		}
	}
	return newest
}

// begin begins to fetch a segment. The caller has the lock.
func (r *Receiver) begin(s *segment, memory [][]byte) {
	s.content = newContent(r.space, s.manifest.Length(), memory)
	link := &proto.Link{
		Manifest: proto.ManifestCID(s.encoded),
		Name:     s.manifest.Name,
		Length:   s.manifest.Length(),
		Peers:    r.cfg.Peers,
	}
	st := &countingStore{store.NewMemoryOf(s.manifest, s.content), r, s.manifest}
	encoded := s.encoded
	s.encoded = nil
	began := time.Now()
	r.wg.Go(func() {
		t, err := r.cfg.Node.Join(link, encoded, st, peer.JoinOptions{Finder: r.members, Patience: patience})
		if err == nil {
			r.mu.Lock()
			s.transfer = t
			r.mu.Unlock()
			err = t.Wait(r.ctx)
		}
		if err == nil {
			r.members.took(time.Since(began), t.Status().Peers)
		}
		r.fetched(s, err)
	})
}

// countingStore notes how much of a segment is missing. A piece that is lost later is not noted.
type countingStore struct {
	*store.Memory
	receiver *Receiver
	manifest *proto.Manifest
}

// Commit implements [store.Store].
func (s *countingStore) Commit(piece int) error {
	before := s.Has(piece)
	err := s.Memory.Commit(piece)
	if err == nil && !before {
		r := s.receiver
		r.mu.Lock()
		defer r.mu.Unlock()
		r.missing -= int64(s.manifest.PieceSize(piece))
		if next := r.segments[r.next]; next != nil && !r.isFull(next) {
			r.change()
		}
	}
	return err
}

// fetched notes what became of a segment.
func (r *Receiver) fetched(s *segment, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetching--
	switch {
	case r.ctx.Err() != nil:
		r.leave(s)
	case err != nil:
		r.fail(fmt.Errorf("segment %d: %w", s.number, err))
	default:
		s.whole = true
		for n := r.segments[r.held]; n != nil && n.whole; n = r.segments[r.held] {
			r.held++
		}
	}
	r.change()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		s := r.segments[r.given]
		switch {
		case r.err != nil:
			return r.bytes, r.err
		case ctx.Err() != nil:
			return r.bytes, context.Cause(ctx)
		case r.chain.ended && r.given == r.end:
			return r.bytes, nil
		case s == nil || !s.whole || s.busy:
			r.await(ctx)
			continue
		}
		s.busy = true
		r.mu.Unlock()
		n, err := s.content.deliver(w, s.manifest)
		r.mu.Lock()
		r.bytes += n
		s.busy, s.given = false, true
		r.given++
		var consumer *consumerError
		if err != nil && !errors.As(err, &consumer) {
			r.fail(err)
		}
		r.settle(s)
		r.change()
		if err != nil {
			return r.bytes, err
		}
	}
}
