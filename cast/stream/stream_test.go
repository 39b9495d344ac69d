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
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
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
	node *peer.Node
	gone bool // it does not count any more
}

// startCaster starts a node with a tracker.
func startCaster(t testing.TB) (*peer.Node, *tracker.Server) {
	var server *tracker.Server
	n := peertest.Start(t, "caster", peertest.Configure(func(c *peer.Config) {
		c.Finder = func(host.Host, []ma.Multiaddr) peer.Finder { return server.Local() }
		c.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	}))
	server = tracker.New(n.Host(), tracker.Config{})
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
	inner, err := stream.NewReceiver(cfg)
	check(c.t, err)
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
	if held == ^uint64(0) || held == c.released || c.keep {
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

// setEpoch sets the pieces of an epoch, before a receiver joins.
func (c *cast) setEpoch(pieces uint64) {
	c.epoch = pieces
	c.sender.SetEpoch(pieces)
}

// run sends what r has, and releases it meanwhile.
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
		"nothing": 0, "one byte": 1, "a piece": stream.PieceSize, "a few": 1<<20 + 3, "many": 40<<20 + 17,
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
				t.Errorf("%d swarms are left at the sender", len(c.node.Transfers()))
			}
		})
	}
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

// TestSlowStream checks that the bytes of a slow stream arrive while it goes on.
func TestSlowStream(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	got, consumer := io.Pipe()
	out := c.start(c.join("A", nil), consumer)
	r, w := pipe(t)
	sent := c.background(r)
	for _, word := range []string{"one", "two", "three"} {
		_, err := io.WriteString(w, word)
		check(t, err)
		b := make([]byte, len(word))
		_, err = io.ReadFull(got, b)
		check(t, err)
		if string(b) != word {
			t.Fatalf("the consumer got %q in place of %q", b, word)
		}
	}
	check(t, w.Close())
	if o := <-sent; o.err != nil || o.n != 11 {
		t.Errorf("sent %d, %v", o.n, o.err)
	}
	if o := <-out; o.err != nil || o.n != 11 {
		t.Errorf("got %d, %v", o.n, o.err)
	}
}

// TestReaderFails checks that receivers fail with the error of the stream's source.
func TestReaderFails(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	a, b := c.start(c.join("A", nil), io.Discard), c.start(c.join("B", nil), io.Discard)
	torn := errors.New("the tape is torn")
	if _, err := c.run(io.MultiReader(random(3<<20), iotest.ErrReader(torn))); !errors.Is(err, torn) {
		t.Errorf("the sender ends with %v", err)
	}
	for _, out := range []<-chan outcome{a, b} {
		if o := <-out; o.err == nil || !strings.Contains(o.err.Error(), torn.Error()) {
			t.Errorf("a receiver ends with %v", o.err)
		}
	}
}

// gate is a consumer that takes nothing until it is opened.
type gate struct {
	*sum
	open chan struct{}
}

func newGate() *gate { return &gate{newSum(), make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.sum.Write(p)
}

// TestSlowConsumer checks that a consumer that takes nothing fills the memory and the spool of its host,
// then those of the sender, and then holds the stream, while others get all that was published.
func TestSlowConsumer(t *testing.T) {
	const size, memory, spool = 96 << 20, 12 << 20, 8 << 20
	t.Parallel()
	c := newCast(t, func(cfg *stream.SenderConfig) { cfg.Spool = spool })
	c.sender.SetMemory(memory)
	slow, fast := newGate(), newSum()
	lags := c.join("A", func(cfg *stream.ReceiverConfig) { cfg.Spool = spool })
	lags.SetMemory(memory)
	keeps := c.join("A", nil)
	slowOut, fastOut := c.start(lags, slow), c.start(keeps, fast)
	sent := c.background(random(size))
	var st stream.SenderStats
	peertest.Eventually(t, "all is full, and the other receiver has all that was published", func() bool {
		st = c.sender.Stats()
		return st.Held && st.Spool > 0 && lags.Stats().Spool > 0 && lags.Stats().Waiting != "" && keeps.Held() == st.Published
	})
	if got := lags.Stats(); got.Bytes > 0 || got.Spool == 0 || got.Spool > spool || got.Memory > memory || got.Waiting == "" {
		t.Errorf("the host of the slow consumer has %+v", got)
	}
	if st.Spool == 0 || st.Spool > spool || st.Memory > memory+1<<20 || st.Read == size {
		t.Errorf("the sender has %+v", st)
	}
	if got := keeps.Stats(); got.Spool > 0 {
		t.Errorf("the host of the other consumer has %+v", got)
	}
	close(slow.open)
	for _, out := range []<-chan outcome{sent, slowOut, fastOut} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	slow.want(t, size)
	fast.want(t, size)
}

// TestDeadReceiver checks that a receiver that dies holds nobody once it does not count any more.
func TestDeadReceiver(t *testing.T) {
	const size = 48 << 20
	t.Parallel()
	c := newCast(t, nil)
	c.sender.SetMemory(8 << 20) // so that the dead one holds the stream
	c.sender.SetSpool(0)
	dies, s := c.join("A", nil), newSum()
	_ = c.start(dies, io.Discard)
	out := c.start(c.join("A", nil), s)
	sent := c.background(random(size))
	peertest.Eventually(t, "bytes", func() bool { return dies.Stats().Bytes > 0 })
	dies.Close()
	check(t, dies.node.Close())
	c.drop(dies)
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	s.want(t, size)
}

// TestLateReceiver checks that a receiver that starts late gets what was not released, and is refused if
// that is not all.
func TestLateReceiver(t *testing.T) {
	const size = 8 << 20
	t.Parallel()
	c := newCast(t, nil)
	c.keep = true
	early := newSum()
	first := c.join("A", nil)
	out := c.start(first, early)
	r, w := pipe(t)
	sent := c.background(r)
	_, err := io.Copy(w, random(size))
	check(t, err)
	peertest.Eventually(t, "the early receiver has it", func() bool { return first.Stats().Bytes == size })
	s := newSum()
	late := c.start(c.join("A", nil), s)
	c.mu.Lock()
	c.keep = false
	c.mu.Unlock()
	peertest.Eventually(t, "release", func() bool { return c.sender.Stats().Memory < size/2 })
	if o := <-c.start(c.join("A", nil), io.Discard); o.err == nil || !strings.Contains(o.err.Error(), "gone at its source") {
		t.Errorf("a receiver that comes after the release: %v", o.err)
	}
	c.drop(c.receivers[2])
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, out, late} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	early.want(t, size)
	s.want(t, size)
}

// failing is a consumer that fails after some bytes.
type failing struct{ left int }

var errConsumer = errors.New("the consumer has enough")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errConsumer
	}
	return len(p), nil
}

// TestConsumerFails checks that a receiver whose consumer fails says so, and goes on to get and to serve.
func TestConsumerFails(t *testing.T) {
	const size = 24 << 20
	t.Parallel()
	c := newCast(t, nil)
	s, fails := newSum(), c.join("A", nil)
	failed, out := c.start(fails, &failing{1 << 20}), c.start(c.join("A", nil), s)
	sent := c.background(random(size))
	if o := <-failed; o.err != errConsumer || o.n > 1<<20 {
		t.Errorf("the receiver got %d: %v", o.n, o.err)
	}
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	s.want(t, size)
	if got, want := fails.Held(), c.sender.Stats().Published; got != want {
		t.Errorf("the receiver without a consumer holds %d of %d records", got, want)
	}
}

// TestSpoolFails checks that a spool that cannot be written fails the receiver, and the stream at the
// sender.
func TestSpoolFails(t *testing.T) {
	const size, memory = 32 << 20, 8 << 20
	missing := filepath.Join(t.TempDir(), "missing")
	for name, at := range map[string]string{"receiver": "receiver", "sender": "sender"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, func(cfg *stream.SenderConfig) {
				if at == "sender" {
					cfg.Dir = missing
				}
			})
			c.sender.SetMemory(memory)
			r := c.join("A", func(cfg *stream.ReceiverConfig) {
				if at == "receiver" {
					cfg.Dir = missing
				} else {
					cfg.Spool = 0
				}
			})
			r.SetMemory(memory)
			other := c.start(c.join("A", nil), io.Discard)
			g := newGate()
			out := c.start(r, g)
			sent := c.background(random(size))
			failed := sent
			if at == "receiver" {
				failed = out
				peertest.Eventually(t, "a false write", func() bool { return r.Failed() != nil })
				close(g.open)
			}
			if o := <-failed; o.err == nil || !strings.Contains(o.err.Error(), "spool: ") {
				t.Fatalf("a spool that is not there: %v", o.err)
			}
			if at == "sender" {
				if o := <-other; o.err == nil || !strings.Contains(o.err.Error(), "cut off at its source: spool: ") {
					t.Errorf("the other receiver: %v", o.err)
				}
				close(g.open)
				<-out
				return
			}
			c.drop(r)
			if o := <-sent; o.err != nil {
				t.Error(o.err)
			}
		})
	}
}

// TestFalseRecord checks that a receiver fails at a record that is not the next.
func TestFalseRecord(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	r := c.join("A", nil)
	out := c.start(r, io.Discard)
	if err := r.Add([]byte("not a record")); err == nil {
		t.Error("no error")
	}
	if o := <-out; o.err == nil || !strings.Contains(o.err.Error(), "false record") {
		t.Errorf("Run returns %v", o.err)
	}
	if err := r.Add(nil); err == nil {
		t.Error("no error after the first")
	}
}

// TestCancel checks that both sides end with their contexts.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	ctx, cancel := context.WithCancel(c.ctx)
	c.ctx = ctx
	out := c.start(c.join("A", nil), io.Discard)
	r, w := pipe(t)
	sent := c.background(r)
	_, err := io.WriteString(w, "some")
	check(t, err)
	c.await()
	cancel()
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; !errors.Is(o.err, context.Canceled) {
			t.Error(o.err)
		}
	}
}

// TestEpochs sends a stream through many epochs.
func TestEpochs(t *testing.T) {
	t.Parallel()
	const size = 96*stream.PieceSize + 17
	c := newCast(t, nil)
	c.setEpoch(8)
	var outs []<-chan outcome
	var sums []*sum
	for _, cluster := range []string{"A", "A", "B"} {
		s := newSum()
		sums, outs = append(sums, s), append(outs, c.start(c.join(cluster, nil), s))
	}
	for _, out := range append(outs, c.background(random(size))) {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	for _, s := range sums {
		s.want(t, size)
	}
	for _, r := range c.receivers {
		if n := len(r.node.Transfers()); n > 3 {
			t.Errorf("a receiver is in %d swarms", n)
		}
	}
}

// TestFlat checks that a long stream takes no more memory, goroutines and names than a short one.
func TestFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a hundred epochs")
	}
	const epoch, pieces = 16, 1600
	c := newCast(t, nil)
	c.setEpoch(epoch)
	a, b := c.start(c.join("A", nil), io.Discard), c.start(c.join("A", nil), io.Discard)
	r, w := pipe(t)
	sent := c.background(r)
	source := random(pieces * stream.PieceSize)
	// rest has some pieces sent, waits until nothing is under way, and returns what there is.
	rest := func(n int64) (heap uint64, goroutines, transfers int) {
		_, err := io.CopyN(w, source, n*stream.PieceSize)
		check(t, err)
		peertest.Eventually(t, "everything is released", func() bool {
			st := c.sender.Stats()
			return len(c.node.Transfers()) == 1 && st.Memory <= stream.PieceSize && c.released == st.Published
		})
		for _, r := range c.receivers {
			peertest.Eventually(t, "one swarm at a receiver", func() bool { return len(r.node.Transfers()) == 1 })
			transfers += len(r.node.Stats().Transfers) + len(r.node.Stats().Clusters)
		}
		runtime.GC()
		runtime.GC() // what pools hold is gone after two
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine(), transfers
	}
	heap, goroutines, names := rest(pieces / 2)
	heap2, goroutines2, names2 := rest(pieces / 2)
	// Two receivers may be connected in one of the two moments and not in the other. That is a dozen goroutines, where one
	// that each epoch left behind would be fifty.
	const most = pieces / 2 / epoch / 2
	t.Logf("%d KiB and %d goroutines, then %d KiB and %d", heap>>10, goroutines, heap2>>10, goroutines2)
	if heap2 > heap+heap/4+1<<20 || goroutines2 > goroutines+most || names2 > names+most {
		t.Errorf("%d bytes, %d goroutines and %d names became %d, %d and %d", heap, goroutines, names, heap2, goroutines2, names2)
	}
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, a, b} {
		if o := <-out; o.n != pieces*stream.PieceSize || o.err != nil {
			t.Errorf("%d: %v", o.n, o.err)
		}
	}
}

// TestSilentMember checks that a member that accepts connections and never answers, as one that was
// stopped, holds up the begin of a stream alone.
func TestSilentMember(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a member that is silent")
	}
	t.Parallel()
	const passes, first = 24, 3
	c := newCast(t, nil)
	silent := peertest.Stranger(t)
	silent.SetStreamHandler(proto.ControlProtocol, func(network.Stream) {})
	infos, err := libpeer.AddrInfosFromP2pAddrs(c.node.Addrs()...)
	check(t, err)
	client := tracker.NewClient(silent, infos, tracker.ClientConfig{})
	t.Cleanup(func() { client.Close() })
	_, err = client.Announce(c.ctx, &proto.Announce{
		Swarm: stream.SwarmOf(c.key.GetPublic()), Cluster: "A", Addrs: [][]byte{silent.Addrs()[0].Bytes()},
	})
	check(t, err)
	var sums []*sum
	var outs []<-chan outcome
	for range 2 {
		s := newSum()
		sums, outs = append(sums, s), append(outs, c.start(c.join("A", nil), s))
	}
	r, w := pipe(t)
	sent := c.background(r)
	source := random(passes * stream.PieceSize)
	// pass has some pieces sent one after the other, and returns how long that takes.
	pass := func(n int) time.Duration {
		began := time.Now()
		for range n {
			_, err := io.CopyN(w, source, stream.PieceSize)
			check(t, err)
			peertest.Eventually(t, "the piece is released", func() bool {
				return c.sender.Stats().Memory <= stream.PieceSize
			})
		}
		return time.Since(began) / time.Duration(n)
	}
	slow, quick := pass(first), pass(passes-first)
	t.Logf("the first pieces take %v each, the others %v", slow, quick)
	if quick > slow/2 {
		t.Errorf("the first pieces take %v each, the others %v: they wait for the silent member too", slow, quick)
	}
	check(t, w.Close())
	for _, out := range append(outs, sent) {
		if o := <-out; o.n != passes*stream.PieceSize || o.err != nil {
			t.Errorf("%d: %v", o.n, o.err)
		}
	}
	for _, s := range sums {
		s.want(t, passes*stream.PieceSize)
	}
}
