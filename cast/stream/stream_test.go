package stream_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

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
	sender    *stream.Sender
	published chan struct{} // holds a token for each record

	mu        sync.Mutex
	records   [][]byte
	receivers []*receiver
	released  uint64
}

// receiver is a receiver of a cast.
type receiver struct {
	*stream.Receiver
	node *peer.Node
	gone bool // it does not count any more
}

// newCast starts a sender. change may change its configuration.
func newCast(t testing.TB, change func(*stream.SenderConfig)) *cast {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	t.Cleanup(cancel)
	c := &cast{t: t, ctx: ctx, key: key, node: peertest.Start(t, "caster"), published: make(chan struct{}, 1<<20)}
	server := tracker.New(c.node.Host(), tracker.Config{})
	t.Cleanup(func() { server.Close() })
	cfg := stream.SenderConfig{
		Node:    c.node,
		Key:     key,
		Finder:  server.Local(),
		Spool:   1 << 30,
		Dir:     t.TempDir(),
		Publish: c.publish,
	}
	if change != nil {
		change(&cfg)
	}
	c.sender, err = stream.NewSender(cfg)
	check(t, err)
	return c
}

// publish passes a record on to all receivers.
func (c *cast) publish(record []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = append(c.records, record)
	for _, r := range c.receivers {
		_ = r.Add(record) // Run fails with the same error
	}
	c.published <- struct{}{}
}

// join starts a receiver, and gives it the records so far.
func (c *cast) join(cluster string, change func(*stream.ReceiverConfig)) *receiver {
	c.t.Helper()
	n := peertest.Start(c.t, cluster)
	caster := c.node.Addrs()
	infos, err := libpeer.AddrInfosFromP2pAddrs(caster...)
	check(c.t, err)
	client := tracker.NewClient(n.Host(), infos, tracker.ClientConfig{})
	cfg := stream.ReceiverConfig{
		Node:   n,
		Key:    c.key.GetPublic(),
		Finder: client,
		Peers:  caster,
		Spool:  1 << 30,
		Dir:    c.t.TempDir(),
	}
	if change != nil {
		change(&cfg)
	}
	inner, err := stream.NewReceiver(cfg)
	check(c.t, err)
	c.t.Cleanup(func() {
		inner.Close()
		client.Close()
	})
	r := &receiver{Receiver: inner, node: n}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, record := range c.records {
		_ = r.Add(record)
	}
	c.receivers = append(c.receivers, r)
	return r
}

// drop has a receiver not count any more.
func (c *cast) drop(r *receiver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.gone = true
}

// releaseOnce releases what all receivers have.
func (c *cast) releaseOnce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := ^uint64(0)
	for _, r := range c.receivers {
		if !r.gone {
			held = min(held, r.Held())
		}
	}
	if held == ^uint64(0) || held == c.released {
		return
	}
	c.released = held
	c.sender.Release(held)
	for _, r := range c.receivers {
		if !r.gone {
			_ = r.Release(held)
		}
	}
}

// run sends what r has, and releases segments meanwhile.
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

// outcome is what a Run returned.
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

// TestSizes sends streams of all kinds of sizes to receivers of two clusters.
func TestSizes(t *testing.T) {
	for name, size := range map[string]int64{
		"nothing": 0, "one byte": 1, "a block": 64 << 10, "one segment": 1 << 20, "many": 40<<20 + 17,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, nil)
			var outs []<-chan outcome
			var sums []*sum
			for _, cluster := range []string{"A", "A", "B"} {
				s := newSum()
				sums, outs = append(sums, s), append(outs, c.start(c.join(cluster, nil), s))
			}
			if n, err := c.run(random(size)); n != size || err != nil {
				t.Fatalf("sent %d of %d: %v", n, size, err)
			}
			for i, out := range outs {
				if got := <-out; got.n != size || got.err != nil {
					t.Errorf("receiver %d got %d of %d: %v", i, got.n, size, got.err)
				}
				sums[i].want(t, size)
			}
			if len(c.node.Transfers()) > 0 {
				t.Errorf("%d segments are left at the sender", len(c.node.Transfers()))
			}
		})
	}
}

var errReader = errors.New("the tape is torn")
