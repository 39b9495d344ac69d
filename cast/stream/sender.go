package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// SenderConfig configures a [Sender].
type SenderConfig struct {
	// Node serves the segments.
	Node *peer.Node
	// Key signs the records. It belongs to this stream alone: contents of streams with one key may
	// clash.
	Key crypto.PrivKey
	// Finder announces the node to the tracker of the receivers: [tracker.Server.Local] if that is on
	// the node's own host. The sender does not close it.
	Finder peer.Finder
	// Spool bounds what is on the disk, in bytes, and Dir is where. An empty Dir is that of the system
	// for temporary files.
	Spool int64
	Dir   string
	// Publish hands a record to the receivers. Every receiver needs all of them, in order: the caller
	// keeps them for those that start later, until it releases the segment. The last one is the end,
	// and describes no segment. Publish is called by one goroutine. The stream waits for it.
	Publish func(record []byte)
}

// Sender sends one stream. Its methods may be called from any goroutine.
type Sender struct {
	cfg     SenderConfig
	name    string
	swarm   []byte
	space   *space
	wake    chan struct{} // holds a token when the state has changed
	failure atomic.Pointer[error]
	size    int64 // of every segment, for tests; 0 means the pace of the uplink

	unsent atomic.Int64 // bytes of published segments that have not left the node once
	sent   atomic.Int64 // bytes that have
	tail   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	released uint64     // segments below it are with all receivers
	stats    SenderStats
}

// SenderStats is how far a [Sender] is.
type SenderStats struct {
	// Read is how much of the stream was read, and Published the segments that it was cut into.
	Read      int64
	Published uint64
	// Memory and Spool are the bytes in use. Spool is 0 unless some receiver lags far behind.
	Memory, Spool int64
	// Held says that nothing is read at present, since memory and spool are full.
	Held bool
}

// NewSender returns a sender that has not begun.
func NewSender(cfg SenderConfig) (*Sender, error) {
	name, swarm, err := streamName(cfg.Key.GetPublic())
	if err != nil {
		return nil, err
	}
	return &Sender{
		cfg:   cfg,
		name:  name,
		swarm: swarm,
		space: newSpace(cfg.Dir, cfg.Spool),
		wake:  make(chan struct{}, 1),
	}, nil
}

// Release says that every receiver has the segments below n, so that the sender may forget them. See
// [Receiver.Held].
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

// Run sends what r has, to its end, and returns how many bytes that were. It blocks until every segment
// is released, r or the spool fails, or ctx ends. If r fails, the receivers fail with the text of its
// error. A Read of r that is under way may outlast Run. Run is called once.
func (s *Sender) Run(ctx context.Context, r io.Reader) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	run := &sending{Sender: s, ctx: ctx, members: newMembers(s.cfg.Node, s.cfg.Finder, s.swarm), cutter: newCutter(s.space, r)}
	beside.Go(func() { run.members.run(ctx) })
	defer func() {
		run.close()
		cancel()
		beside.Wait()
		s.tail.Wait()
		s.space.close()
	}()
	return run.run()
}

// sending is a run of a [Sender]. Its goroutine owns it.
type sending struct {
	*Sender
	ctx     context.Context
	members *members
	cutter  *cutter
	chain   chain
	live    []*source // that were published, and are not released
	pace    pace
}

// pace is how large segments are: about what leaves the node in an interval, and more with many members.
// For each segment every two of those in a cluster have a session, which costs them about a millisecond
// of CPU each.
type pace struct {
	size  int64     // bytes, a multiple of a block
	fixed bool      // for tests
	sent  int64     // bytes that had left the node
	since time.Time // when that was noted
}

const (
	// firstSize is the size of the first segments in bytes, and minSize the least one, unless the
	// stream is slow.
	firstSize = 1 << 20
	minSize   = 256 << 10
)

// ahead returns up to how many bytes that have not left the node another segment is published, and up to
// how many that were not published are read.
func (p *pace) ahead() int64 { return 2 * p.size }

// manyMembers is how many members add an interval to what a segment has.
const manyMembers = 16

// note adapts the size once in an interval to what has left the node meanwhile. It doubles at most, like
// the window of a TCP connection that starts.
func (p *pace) note(sent int64, members int) {
	now := time.Now()
	passed := now.Sub(p.since)
	if passed < interval || p.fixed {
		return
	}
	most := interval + interval*time.Duration(members)/manyMembers
	size := int64(float64(sent-p.sent) * most.Seconds() / passed.Seconds())
	p.sent, p.since = sent, now
	if size < p.size/2 { // the stream is slow, which says nothing of the uplink, or the uplink is
		size = p.size / 2
	}
	p.size = min(max(size, minSize), 2*p.size, maxSegment) / blockSize * blockSize
}

// maxLive bounds the segments that are published and not released. Each has a swarm.
const maxLive = 512

// hurry is up to how many segments that are not released a segment is cut before it has its size, so
// that its bytes arrive soon. Beyond that some receiver is behind in any case.
const hurry = 32

// run sends the stream.
func (s *sending) run() (int64, error) {
	defer s.cutter.stop()
	s.pace = pace{size: cmp.Or(s.size, firstSize), fixed: s.size > 0, since: time.Now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if err := s.step(); err != nil {
			if s.ctx.Err() == nil && !s.chain.ended {
				_ = s.publish(nil, err) // the first error counts
			}
			return s.cutter.read, err
		}
		if s.chain.ended && len(s.live) == 0 {
			return s.cutter.read, nil
		}
		var input <-chan filled
		if !s.chain.ended {
			input = s.cutter.filled
			timer.Reset(s.cutter.wait())
		}
		select {
		case f := <-input:
			s.cutter.take(f)
		case <-s.wake:
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
}

// step does what can be done now.
func (s *sending) step() error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if err := s.failure.Load(); err != nil {
		return *err
	}
	s.release()
	s.pace.note(s.sent.Load(), s.members.count())
	for s.mayCut() {
		segment, hashes := s.cutter.cut(s.pace.size)
		if err := s.offer(segment, hashes); err != nil {
			return err
		}
	}
	if s.chain.ended {
		return nil
	}
	if err := s.cutter.failed(); errors.Is(err, io.EOF) {
		defer s.note(false)
		return s.publish(nil, nil)
	} else if err != nil {
		return err
	}
	held := false
	if s.cutter.size() < s.pace.ahead() {
		var err error
		if held, err = s.makeRoom(); err != nil {
			return err
		}
		if !held {
			s.cutter.more()
		}
	}
	s.note(held)
	return nil
}

// note publishes how far the sender is.
func (s *sending) note(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Read, s.stats.Published, s.stats.Held = s.cutter.read, s.chain.next, held
	if s.chain.ended {
		s.stats.Published--
	}
}

// mayCut reports whether there is a segment to publish, and the uplink will soon need it.
func (s *sending) mayCut() bool {
	if s.unsent.Load() >= s.pace.ahead() || len(s.live) >= maxLive {
		return false
	}
	return s.cutter.size() >= s.pace.size || len(s.live) < hurry && s.cutter.due()
}

// makeRoom makes room in memory for the next block, and reports whether there is none.
func (s *sending) makeRoom() (held bool, err error) {
	if s.cutter.hasRoom() {
		return false, nil
	}
	for _, c := range s.live {
		if c.left.Load() > 0 || !c.inMemory() {
			continue
		}
		switch err := c.toSpool(); {
		case err == nil:
			return !s.cutter.hasRoom(), nil
		case errors.Is(err, errSpoolFull):
			return true, nil
		default:
			return true, err
		}
	}
	return true, nil
}

// offer publishes a segment, and serves it.
func (s *sending) offer(c *content, hashes []byte) error {
	segment := newSource(s.Sender, c, s.chain.next)
	m := newManifest(s.name, segment.number, c.length, hashes)
	b, err := m.Encode()
	if err != nil {
		return err
	}
	link := &proto.Link{Manifest: proto.ManifestCID(b), Name: m.Name, Length: c.length}
	if segment.transfer, err = s.cfg.Node.Join(link, b, segment.store(m), peer.JoinOptions{Seed: true, Finder: nobody{}}); err != nil {
		return fmt.Errorf("segment %d: %w", segment.number, err)
	}
	s.unsent.Add(c.length)
	s.live = append(s.live, segment)
	if err := segment.transfer.Wait(s.ctx); err != nil {
		return fmt.Errorf("segment %d: %w", segment.number, err)
	}
	return s.publish(b, nil)
}

// publish publishes the next record: that of a segment, or of the end.
func (s *sending) publish(manifest []byte, failure error) error {
	b, err := s.chain.seal(s.cfg.Key, manifest, failure)
	if err != nil {
		return err
	}
	s.cfg.Publish(b)
	return nil
}

// release forgets the segments that were released.
func (s *sending) release() {
	s.mu.Lock()
	n := s.released
	s.mu.Unlock()
	for len(s.live) > 0 && s.live[0].number < n {
		s.forget(s.live[0])
		s.live = s.live[1:]
	}
}

// forget ends the serving of a segment, in the background.
func (s *sending) forget(c *source) {
	c.forget()
	s.tail.Go(func() {
		if c.transfer != nil {
			_, _ = s.cfg.Node.Remove(c.transfer, false) // fails only if the node closes, which ends it too
		}
		c.free()
		s.rouse()
	})
}

// close forgets all segments.
func (s *sending) close() {
	for _, c := range s.live {
		s.forget(c)
	}
	s.live = nil
}

// source is a segment at the sender.
type source struct {
	*content
	sender   *Sender
	number   uint64
	transfer *peer.Transfer

	left atomic.Int64 // bytes that have not left the node once

	mu   sync.Mutex
	sent []bool // which cells have left it
}

func newSource(s *Sender, c *content, number uint64) *source {
	src := &source{content: c, sender: s, number: number, sent: make([]bool, (c.length+proto.Cell-1)/proto.Cell)}
	src.left.Store(c.length)
	return src
}

// store returns the store of the whole segment.
func (c *source) store(m *proto.Manifest) store.Store {
	st := store.NewMemoryOf(m, c)
	for i := range m.Pieces() {
		_ = st.Commit(i) // the store is new
	}
	return &sourceStore{st, c}
}

// ReadAt implements [io.ReaderAt] for the swarm, which sends what it reads.
func (c *source) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.content.ReadAt(p, offset)
	if err != nil {
		if !errors.Is(err, os.ErrClosed) {
			c.sender.fail(err)
		}
		return n, err
	}
	if c.left.Load() > 0 {
		c.note(offset, offset+int64(n))
	}
	return n, nil
}

// forget counts what has not left the node as if it had.
func (c *source) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sender.unsent.Add(-c.left.Swap(0))
}

// note notes that bytes leave the node.
func (c *source) note(from, to int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left.Load() == 0 {
		return
	}
	var n int64
	for cell := from / proto.Cell; cell*proto.Cell < to; cell++ {
		if !c.sent[cell] {
			c.sent[cell] = true
			n += min(proto.Cell, c.length-cell*proto.Cell)
		}
	}
	c.left.Add(-n)
	c.sender.unsent.Add(-n)
	c.sender.sent.Add(n)
	c.sender.rouse()
}

// sourceStore fails the stream when bytes of a segment are lost: nobody else may have them.
type sourceStore struct {
	*store.Memory
	source *source
}

// Forget implements [store.Store].
func (s *sourceStore) Forget(piece int) error {
	s.source.sender.fail(errSpoolDamaged)
	return s.Memory.Forget(piece)
}
