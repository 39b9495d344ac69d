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
	// Node serves the pieces. It has the same trackers as the receivers.
	Node *peer.Node
	// Key signs the records. No other stream may use it.
	Key crypto.PrivKey
	// Spool bounds the size of the spool in bytes. Dir is its directory, by default [os.TempDir].
	Spool int64
	Dir   string
	// Publish sends a record to all receivers. Every receiver needs all records in order: the caller keeps them for receivers
	// that start later, until it releases them. Publish is called by one goroutine, which waits for it.
	Publish func(record []byte)
}

// Sender sends one stream. Its methods may be called from any goroutine.
type Sender struct {
	cfg     SenderConfig
	space   *space
	epoch   uint64        // pieces of an epoch
	wake    chan struct{} // has a token when the state has changed
	failure atomic.Pointer[error]

	unsent atomic.Int64 // bytes of published pieces that were not sent yet
	sent   atomic.Int64 // bytes that were sent at least once
	tail   sync.WaitGroup

	released atomic.Uint64 // all receivers have the records below
	blocked  atomic.Bool   // see Held
}

// NewSender returns a sender that was not started.
func NewSender(cfg SenderConfig) *Sender {
	return &Sender{cfg: cfg, space: newSpace(cfg.Dir, cfg.Spool), epoch: epochPieces, wake: make(chan struct{}, 1)}
}

// Release reports that every receiver has the records below n, which the sender may free. See [ReceiverStats]. It is called by
// one goroutine at a time.
func (s *Sender) Release(n uint64) {
	s.released.Store(max(s.released.Load(), n))
	s.notify()
}

// Held reports whether nothing is read since memory and spool are full, until the next Release.
func (s *Sender) Held() bool { return s.blocked.Load() }

// notify wakes Run.
func (s *Sender) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// fail ends the stream with an error of this side.
func (s *Sender) fail(err error) {
	s.failure.CompareAndSwap(nil, &err)
	s.notify()
}

// Run sends the bytes of r until its end, and returns their number. It blocks until every record is released, r or the spool fails,
// or ctx ends. If r fails, the receivers fail with the text of its error. A Read of r may outlast Run. Run is called once.
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

	epochs    map[uint64]*epoch // joined swarms
	pieces    uint64            // number of published pieces
	live      []*piece          // published pieces that are not released
	spooled   int               // number of pieces at the start of live that are in the spool
	first     uint64            // number of the first record that is not released
	records   []uint64          // from it on, the number of pieces up to each record
	published time.Time         // the time of the last record
}

// pace is the number of bytes that are published ahead of the node's uplink: about the bytes that it sends in a second.
type pace struct {
	ahead int64 // bytes
	sent  int64 // bytes sent at the time since
	since time.Time
}

const (
	// paceEvery is the time between updates of the pace.
	paceEvery = 500 * time.Millisecond
	// leastAhead and mostAhead bound the pace, in bytes. With less, members of a large cluster find no different pieces to
	// fetch: with 4 MiB, 19 hosts had the source send each byte twice.
	leastAhead = 24 << 20
	mostAhead  = 64 << 20
)

// note updates the pace. It at most doubles, like the window of a TCP connection in slow start.
func (p *pace) note(sent int64) {
	now := time.Now()
	passed := now.Sub(p.since)
	if passed < paceEvery {
		return
	}
	size := int64(float64(sent-p.sent) / passed.Seconds())
	p.sent, p.since = sent, now
	size = max(size, p.ahead/2) // the stream or the uplink is slow
	p.ahead = min(max(size, leastAhead), 2*p.ahead, mostAhead)
}

const (
	// recordEvery is the least time between two records of a fast stream, and busyEvery the least time while the uplink has much
	// to send. Each record costs every host a message and a signature.
	recordEvery = 50 * time.Millisecond
	busyEvery   = 250 * time.Millisecond
	// maxShortPieces bounds the records that are not released while incomplete pieces are published. With more records some
	// receiver lags in any case.
	maxShortPieces = 256
)

func (s *sending) run() (int64, error) {
	defer s.chunker.stop()
	s.pace = pace{ahead: leastAhead, since: time.Now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, err := s.step()
		if err != nil {
			if s.ctx.Err() == nil && !s.chain.ended {
				_ = s.publish(end(err)) // the first error is returned
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

// step does the work that is possible now, and returns the time until there is more without an event.
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
		return 0, s.publish(end(nil))
	} else if err != nil {
		return 0, err
	}
	room := true
	if s.chunker.size() < s.pace.ahead {
		if room, err = s.makeRoom(); err != nil {
			return 0, err
		}
		if room {
			s.chunker.more()
		}
	}
	s.blocked.Store(!room)
	return wait, nil
}

// cut publishes pieces up to the pace, and returns the time until there may be more.
func (s *sending) cut() (wait time.Duration, err error) {
	for {
		room := s.pace.ahead - s.unsent.Load()
		if room > 0 && len(s.chunker.pieces) == 0 && s.chunker.due() && len(s.records) < maxShortPieces {
			if rest := s.chunker.cutShort(); rest != nil {
				if err := s.publish(&record{Rest: rest}); err != nil {
					return 0, err
				}
				continue
			}
		}
		pieces := s.chunker.pieces
		if room <= 0 || len(pieces) == 0 {
			return s.chunker.wait(), nil
		}
		n := 0
		for most := min(maxPieces, int(s.epoch-s.pieces%s.epoch), int(room/pieceSize)+1, len(pieces)); n < most; {
			n++
			if pieces[n-1].size < pieceSize { // the last of its record
				break
			}
		}
		last := n == len(pieces) && s.chunker.err != nil
		pause := recordEvery
		if room < s.pace.ahead/2 {
			pause = busyEvery
		}
		if wait := pause - time.Since(s.published); n < maxPieces && !last && wait > 0 {
			return wait, nil
		}
		s.chunker.pieces = slices.Clone(pieces[n:])
		if err := s.offer(pieces[:n]); err != nil {
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

// enter returns the epoch of a piece, and joins its swarm if necessary.
func (s *sending) enter(piece uint64) (*epoch, error) {
	number := piece / s.epoch
	if e := s.epochs[number]; e != nil {
		return e, nil
	}
	e := newEpoch(number)
	e.read = s.left
	e.lost = func() { s.fail(errSpoolDamaged) } // no other node may have them
	if err := e.join(s.cfg.Node, s.cfg.Key.GetPublic(), s.epoch, nil, true); err != nil {
		return nil, err
	}
	s.epochs[number] = e
	return e, nil
}

// left records that bytes were sent.
func (s *Sender) left(p *piece, from, to int, err error) {
	switch {
	case errors.Is(err, os.ErrClosed): // the piece was released
	case err != nil:
		s.fail(err)
	default:
		if n := p.leave(from, to); n > 0 {
			s.unsent.Add(-n)
			s.sent.Add(n)
			s.notify()
		}
	}
}

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

// makeRoom reports whether there is memory for the next block. If not, it moves the oldest piece that was sent to the spool.
func (s *sending) makeRoom() (room bool, err error) {
	if s.chunker.hasRoom() {
		return true, nil
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
		err := p.toSpool()
		if err == nil {
			return s.chunker.hasRoom(), nil
		}
		if errors.Is(err, errSpoolFull) {
			err = nil
		}
		return false, err
	}
	return false, nil
}

// release frees the pieces of released records.
func (s *sending) release() {
	for len(s.records) > 0 && s.first < s.released.Load() {
		s.forget(s.records[0])
		s.first, s.records = s.first+1, s.records[1:]
	}
}

// forget frees the pieces below a number.
func (s *sending) forget(end uint64) {
	first := s.pieces - uint64(len(s.live))
	for i := first; i < end; i++ {
		p := s.live[i-first]
		s.unsent.Add(-p.leave(0, p.size)) // the rest is never sent
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

// leave leaves the swarm of an epoch in the background.
func (s *sending) leave(e *epoch) {
	delete(s.epochs, e.number)
	s.tail.Go(func() { e.leave(s.cfg.Node) })
}

func (s *sending) close() {
	s.forget(s.pieces)
	for _, e := range s.epochs {
		s.leave(e)
	}
	for _, p := range s.chunker.pieces {
		p.free()
	}
}
