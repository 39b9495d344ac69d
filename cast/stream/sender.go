package stream

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/peer"
)

// SenderConfig configures a [Sender].
type SenderConfig struct {
	// Node serves the pieces. Its trackers are those of the receivers.
	Node *peer.Node
	// Key signs the records. It belongs to this stream alone: contents of streams with one key may
	// clash.
	Key crypto.PrivKey
	// Spool bounds what is on the disk, in bytes, and Dir is where. An empty Dir is that of the system
	// for temporary files.
	Spool int64
	Dir   string
	// Publish hands a record to the receivers. Every receiver needs all of them, in order: the caller
	// keeps them for those that start later, until it releases them. The last one is the end. Publish
	// is called by one goroutine. The stream waits for it.
	Publish func(record []byte)
}

// Sender sends one stream. Its methods may be called from any goroutine.
type Sender struct {
	cfg     SenderConfig
	space   *space
	epoch   uint64        // pieces of an epoch
	wake    chan struct{} // holds a token when the state has changed
	failure atomic.Pointer[error]

	unsent atomic.Int64 // bytes of published pieces that have not left the node once
	sent   atomic.Int64 // bytes that have
	tail   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	released uint64     // records below it are with all receivers
	stats    SenderStats
}

// SenderStats is how far a [Sender] is.
type SenderStats struct {
	// Read is how much of the stream was read, and Published the records that say how it goes.
	Read      int64
	Published uint64
	// Memory and Spool are the bytes in use. Spool is 0 unless some receiver lags far behind.
	Memory, Spool int64
	// Held says that nothing is read at present, since memory and spool are full.
	Held bool
}

// NewSender returns a sender that has not begun.
func NewSender(cfg SenderConfig) (*Sender, error) {
	if _, err := epochLink(cfg.Key.GetPublic(), 0); err != nil {
		return nil, err
	}
	return &Sender{cfg: cfg, space: newSpace(cfg.Dir, cfg.Spool), epoch: epochPieces, wake: make(chan struct{}, 1)}, nil
}

// Release says that every receiver has what the records below n announce, so that the sender may forget
// it. See [Receiver.Held].
func (s *Sender) Release(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = max(s.released, n)
	s.rouse()
}

// Stats returns how far the sender is. It does not block.
func (s *Sender) Stats() SenderStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Memory, st.Spool = s.space.used()
	return st
}

// rouse has the run look at the state.
func (s *Sender) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// fail ends the stream because of an error of this side.
func (s *Sender) fail(err error) {
	s.failure.CompareAndSwap(nil, &err)
	s.rouse()
}

// Run sends what r has, to its end, and returns how many bytes that were. It blocks until every record
// is released, r or the spool fails, or ctx ends. If r fails, the receivers fail with the text of its
// error. A Read of r that is under way may outlast Run. Run is called once.
func (s *Sender) Run(ctx context.Context, r io.Reader) (n int64, err error) {
	run := &sending{Sender: s, ctx: ctx, chunker: newChunker(s.space, r), epochs: map[uint64]*epoch{}}
	defer func() {
		run.close()
		s.tail.Wait()
		s.space.close()
	}()
	return run.run()
}

// sending is a run of a [Sender]. Its goroutine owns it.
type sending struct {
	*Sender
	ctx     context.Context
	chunker *chunker
	chain   chain
	pace    pace

	epochs    map[uint64]*epoch // whose swarms the node is in
	pieces    uint64            // that were published
	live      []*piece          // that were published, and are not released
	spooled   int               // of live, from the begin on, are in the spool
	records   []uint64          // how many pieces there were with each record that is not released
	published time.Time         // the last record
}

// pace is how much of the stream is ahead of the node's uplink: about what leaves the node in a second.
type pace struct {
	ahead int64     // bytes
	sent  int64     // bytes that had left the node
	since time.Time // when that was noted
}

const (
	// paceEvery is how often the pace follows the uplink.
	paceEvery = 500 * time.Millisecond
	// leastAhead and mostAhead bound what is ahead of the uplink, in bytes. With less, members of a large
	// cluster would find no different pieces to fetch: of 4 MiB, 19 hosts had the source send each byte
	// twice.
	leastAhead = 24 << 20
	mostAhead  = 64 << 20
)

// note follows the uplink. The pace doubles at most, like the window of a TCP connection that starts.
func (p *pace) note(sent int64) {
	now := time.Now()
	passed := now.Sub(p.since)
	if passed < paceEvery {
		return
	}
	size := int64(float64(sent-p.sent) / passed.Seconds())
	p.sent, p.since = sent, now
	size = max(size, p.ahead/2) // the stream is slow, which says nothing of the uplink, or the uplink is
	p.ahead = min(max(size, leastAhead), 2*p.ahead, mostAhead)
}

const (
	// recordEvery is the least time between two records of a fast stream, and rarely the one while the uplink
	// has much to send in any case. Each costs every host a message and a signature.
	recordEvery = 50 * time.Millisecond
	rarely      = 250 * time.Millisecond
	// hurry is up to how many records that are not released a piece is cut short, so that its bytes arrive
	// soon. Beyond that some receiver is behind in any case.
	hurry = 256
)

// run sends the stream.
func (s *sending) run() (int64, error) {
	defer s.chunker.stop()
	s.pace = pace{ahead: leastAhead, since: time.Now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, err := s.step()
		if err != nil {
			if s.ctx.Err() == nil && !s.chain.ended {
				_ = s.publish(end(err)) // the first error counts
			}
			return s.chunker.read, err
		}
		if s.chain.ended && len(s.records) == 0 {
			return s.chunker.read, nil
		}
		var input <-chan filled
		if !s.chain.ended {
			input = s.chunker.filled
			timer.Reset(wait)
		}
		select {
		case f := <-input:
			s.chunker.take(f)
		case <-s.wake:
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
}

// step does what can be done now, and returns how long nothing else can unless something happens.
func (s *sending) step() (wait time.Duration, err error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	if err := s.failure.Load(); err != nil {
		return 0, *err
	}
	s.release()
	s.pace.note(s.sent.Load())
	wait, err = s.cut()
	if err != nil || s.chain.ended {
		return 0, err
	}
	if err := s.chunker.failed(); errors.Is(err, io.EOF) {
		defer s.note(false)
		return 0, s.publish(end(nil))
	} else if err != nil {
		return 0, err
	}
	held := false
	if s.chunker.size() < s.pace.ahead {
		if held, err = s.makeRoom(); err != nil {
			return 0, err
		}
		if !held {
			s.chunker.more()
		}
	}
	s.note(held)
	return wait, nil
}

// note publishes how far the sender is.
func (s *sending) note(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Read, s.stats.Published, s.stats.Held = s.chunker.read, s.chain.next, held
	if s.chain.ended {
		s.stats.Published--
	}
}

// cut publishes what the uplink will soon need, and returns when there may be more.
func (s *sending) cut() (wait time.Duration, err error) {
	for {
		room := s.pace.ahead - s.unsent.Load()
		if room > 0 && len(s.chunker.whole) == 0 && s.chunker.due() && len(s.records) < hurry {
			if rest := s.chunker.cutShort(); rest != nil {
				if err := s.publish(&record{Rest: rest}); err != nil {
					return 0, err
				}
				continue
			}
		}
		whole := s.chunker.whole
		if room <= 0 || len(whole) == 0 {
			return s.chunker.wait(), nil
		}
		n := 0
		for most := min(maxPieces, int(s.epoch-s.pieces%s.epoch), int(room/pieceSize)+1, len(whole)); n < most; {
			n++
			if whole[n-1].size < pieceSize { // the last of its record
				break
			}
		}
		last := n == len(whole) && s.chunker.err != nil
		pause := recordEvery
		if room < s.pace.ahead/2 {
			pause = rarely
		}
		if wait := pause - time.Since(s.published); n < maxPieces && !last && wait > 0 {
			return wait, nil
		}
		s.chunker.whole = slices.Clone(whole[n:])
		if err := s.offer(whole[:n]); err != nil {
			return 0, err
		}
	}
}

// offer publishes pieces of one epoch, and serves them.
func (s *sending) offer(pieces []*piece) error {
	e, err := s.enter(s.pieces)
	if err != nil {
		return err
	}
	first := int(s.pieces % s.epoch)
	r := &record{Last: uint32(pieces[len(pieces)-1].size)}
	known := make([]peer.Piece, len(pieces))
	for i, p := range pieces {
		e.put(first+i, p, true)
		s.unsent.Add(int64(p.size))
		r.Sums = append(r.Sums, p.sum[:]...)
		known[i] = peer.Piece{Size: p.size, Sum: p.sum}
	}
	s.live = append(s.live, pieces...)
	s.pieces += uint64(len(pieces))
	if opens(s.pieces-1, s.epoch) {
		if _, err := s.enter(s.pieces - 1 + s.epoch); err != nil {
			return err
		}
	}
	if err := s.publish(r); err != nil {
		return err
	}
	e.swarm.Grow(first, known)
	return nil
}

// enter returns the epoch of a piece. It joins the swarm, if the node is not in it.
func (s *sending) enter(piece uint64) (*epoch, error) {
	number := piece / s.epoch
	if e := s.epochs[number]; e != nil {
		return e, nil
	}
	e := newEpoch(number)
	e.read = s.left
	e.lost = func() { s.fail(errSpoolDamaged) } // nobody else may have them
	if err := e.join(s.cfg.Node, s.cfg.Key.GetPublic(), s.epoch, nil, true); err != nil {
		return nil, err
	}
	s.epochs[number] = e
	return e, nil
}

// left notes that bytes leave the node.
func (s *Sender) left(p *piece, from, to int, err error) {
	switch {
	case errors.Is(err, os.ErrClosed): // it was released
	case err != nil:
		s.fail(err)
	default:
		if n := p.leave(from, to); n > 0 {
			s.unsent.Add(-n)
			s.sent.Add(n)
			s.rouse()
		}
	}
}

// publish publishes the next record.
func (s *sending) publish(r *record) error {
	b, err := s.chain.seal(s.cfg.Key, r)
	if err != nil {
		return err
	}
	if !r.End {
		s.records = append(s.records, s.pieces)
	}
	s.published = time.Now()
	s.cfg.Publish(b)
	return nil
}

// makeRoom makes room in memory for the next block, and reports whether there is none.
func (s *sending) makeRoom() (held bool, err error) {
	if s.chunker.hasRoom() {
		return false, nil
	}
	for i := s.spooled; i < len(s.live); i++ {
		p := s.live[i]
		switch {
		case !p.inMemory():
			if i == s.spooled {
				s.spooled++
			}
			continue
		case !p.hasLeft():
			continue
		}
		switch err := p.toSpool(); {
		case err == nil:
			return !s.chunker.hasRoom(), nil
		case errors.Is(err, errSpoolFull):
			return true, nil
		default:
			return true, err
		}
	}
	return true, nil
}

// release forgets what was released.
func (s *sending) release() {
	s.mu.Lock()
	released := s.released
	s.mu.Unlock()
	next := s.chain.next // the record after those in records
	if s.chain.ended {
		next--
	}
	first := next - uint64(len(s.records))
	if released <= first {
		return
	}
	n := min(released-first, uint64(len(s.records)))
	s.forget(s.records[n-1])
	s.records = s.records[n:]
}

// forget forgets the pieces below a number.
func (s *sending) forget(end uint64) {
	first := s.pieces - uint64(len(s.live))
	for i := first; i < end; i++ {
		p := s.live[i-first]
		s.unsent.Add(-p.leave(0, p.size)) // what has not left it never will
		s.epochs[i/s.epoch].drop(int(i % s.epoch))
	}
	n := int(end - first)
	clear(s.live[:n])
	s.live = s.live[n:]
	s.spooled = max(s.spooled-n, 0)
	for number, e := range s.epochs {
		if (number+1)*s.epoch <= end {
			s.leave(e)
		}
	}
}

// leave leaves the swarm of an epoch, in the background.
func (s *sending) leave(e *epoch) {
	delete(s.epochs, e.number)
	s.tail.Go(func() { e.leave(s.cfg.Node) })
}

// close forgets everything.
func (s *sending) close() {
	s.forget(s.pieces)
	for _, e := range s.epochs {
		s.leave(e)
	}
	for _, p := range s.chunker.whole {
		p.free()
	}
}
