package stream_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/tracker"
)

// waitTimeout bounds every wait of a test.
const waitTimeout = 3 * time.Minute

// cast is a sender with its receivers, and does what a caster does between them.
type cast struct {
	t         testing.TB
	ctx       context.Context
	key       crypto.PrivKey
	node      *peer.Node
	tracker   *tracker.Server
	sender    *stream.Sender
	epoch     uint64        // pieces, 0 for as many as usual
	published chan struct{} // holds a token for each record

	mu        sync.Mutex
	keep      bool // nothing is released
	records   [][]byte
	receivers []*receiver
	released  uint64
}

// receiver is a receiver of a cast.
type receiver struct {
	*stream.Receiver
	node    *peer.Node
	dropped bool
}

// startCaster starts a node with a tracker.
func startCaster(t testing.TB) (*peer.Node, *tracker.Server) {
	var server *tracker.Server
	n := peertest.Start(t, "caster", peertest.Configure(func(c *peer.Config) {
		c.Finder = func(host.Host, []ma.Multiaddr) peer.Finder { return server.Local() }
		c.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	}))
	server = tracker.New(n.Host(), nil)
	t.Cleanup(func() { server.Close() })
	return n, server
}

// startNode starts a node of a cluster, which can ask trackers.
func startNode(t testing.TB, cluster string) *peer.Node {
	return peertest.Start(t, cluster, peertest.Configure(func(c *peer.Config) {
		c.Finder = func(h host.Host, at []ma.Multiaddr) peer.Finder {
			infos, _ := libpeer.AddrInfosFromP2pAddrs(at...)
			return tracker.NewClient(h, infos, tracker.ClientConfig{})
		}
	}))
}

// newCast starts a sender. change may change its configuration.
func newCast(t testing.TB, change func(*stream.SenderConfig)) *cast {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	t.Cleanup(cancel)
	c := &cast{t: t, ctx: ctx, key: key, published: make(chan struct{}, 1<<20)}
	c.node, c.tracker = startCaster(t)
	cfg := stream.SenderConfig{
		Node:    c.node,
		Key:     key,
		Spool:   1 << 30,
		Dir:     t.TempDir(),
		Publish: c.publish,
	}
	if change != nil {
		change(&cfg)
	}
	c.sender = stream.NewSender(cfg)
	return c
}

// publish sends a record to all receivers.
func (c *cast) publish(record []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = append(c.records, record)
	for _, r := range c.receivers {
		_ = r.Add(record) // Run fails with the same error
	}
	c.published <- struct{}{}
}

// count returns the number of records.
func (c *cast) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return uint64(len(c.records))
}

// join starts a receiver, and gives it the records so far.
func (c *cast) join(cluster string, change func(*stream.ReceiverConfig)) *receiver {
	c.t.Helper()
	n := startNode(c.t, cluster)
	cfg := stream.ReceiverConfig{
		Node:  n,
		Key:   c.key.GetPublic(),
		Peers: c.node.Addrs(),
		Spool: 1 << 30,
		Dir:   c.t.TempDir(),
	}
	if change != nil {
		change(&cfg)
	}
	inner := stream.NewReceiver(cfg)
	c.t.Cleanup(inner.Close)
	if c.epoch > 0 {
		inner.SetEpoch(c.epoch)
	}
	r := &receiver{Receiver: inner, node: n}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, record := range c.records {
		_ = r.Add(record)
	}
	_ = r.Release(c.released) // Run fails with the same error
	c.receivers = append(c.receivers, r)
	return r
}

// drop stops waiting for a receiver.
func (c *cast) drop(r *receiver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.dropped = true
}

// releaseOnce releases what all receivers have.
func (c *cast) releaseOnce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := ^uint64(0)
	for _, r := range c.receivers {
		if !r.dropped {
			held = min(held, r.Stats().Held)
		}
	}
	if held == ^uint64(0) || held == c.released || c.keep {
		return
	}
	c.released = held
	c.sender.Release(held)
	for _, r := range c.receivers {
		if !r.dropped {
			_ = r.Release(held)
		}
	}
}

// setEpoch sets the pieces of an epoch, before a receiver joins.
func (c *cast) setEpoch(pieces uint64) {
	c.epoch = pieces
	c.sender.SetEpoch(pieces)
}

// run sends the bytes of r, and releases records.
func (c *cast) run(r io.Reader) (int64, error) {
	done := make(chan struct{})
	var releaser sync.WaitGroup
	releaser.Go(func() {
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-tick.C:
				c.releaseOnce()
			case <-done:
				tick.Stop()
				return
			}
		}
	})
	defer releaser.Wait()
	defer close(done)
	return c.sender.Run(c.ctx, r)
}

// random is a stream of random bytes, the same in each test.
func random(size int64) io.Reader {
	return io.LimitReader(mathrand.NewChaCha8([32]byte{1}), size)
}

// sum is a consumer that remembers what it got.
type sum struct {
	hash.Hash
	n int64
}

func newSum() *sum { return &sum{Hash: sha256.New()} }

func (s *sum) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return s.Hash.Write(p)
}

// want checks that the consumer got the first bytes of random.
func (s *sum) want(t testing.TB, size int64) {
	t.Helper()
	whole := newSum()
	_, _ = io.Copy(whole, random(size)) // never fails
	if s.n != size || !bytes.Equal(s.Sum(nil), whole.Sum(nil)) {
		t.Errorf("the consumer got %d bytes that are not the %d of the stream", s.n, size)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is the result of Run.
type outcome struct {
	n   int64
	err error
}

// start runs receivers, and returns where their outcomes come.
func (c *cast) start(r *receiver, w io.Writer) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		n, err := r.Run(c.ctx, w)
		out <- outcome{n, err}
	}()
	return out
}

// pipe is a stream that a test writes.
func pipe(t testing.TB) (*io.PipeReader, *io.PipeWriter) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r, w
}

// background runs the sender, and returns where its outcome comes.
func (c *cast) background(r io.Reader) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		n, err := c.run(r)
		out <- outcome{n, err}
	}()
	return out
}

// await waits for the next record.
func (c *cast) await() {
	c.t.Helper()
	select {
	case <-c.published:
	case <-c.ctx.Done():
		c.t.Fatal("no record is published")
	}
}
