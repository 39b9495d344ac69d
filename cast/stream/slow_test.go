package stream_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// TestSlowStream checks that the bytes of a slow stream arrive before its end.
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
			t.Fatalf("the consumer got %q instead of %q", b, word)
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
// then the memory and spool of the sender, and then delays the stream, while the other receiver gets all published pieces.
func TestSlowConsumer(t *testing.T) {
	const size, memory, spool = 12 << 20, 2 << 20, 1 << 20
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
	var got stream.ReceiverStats
	defer func() {
		if t.Failed() {
			t.Logf("the sender has %+v; the host of the slow consumer has %+v, and failed with %v; the other one has %+v of %d records, and failed with %v",
				st, got, lags.Failed(), keeps.Stats(), c.count(), keeps.Failed())
		}
	}()
	peertest.Eventually(t, "all is full, and the other receiver has all that was published", func() bool {
		st, got = c.sender.Stats(), lags.Stats()
		_, spooled := lags.Used()
		return st.Full && spooled > 0 && got.Waiting != "" && keeps.Stats().Held == c.count()
	})
	if inMemory, spooled := lags.Used(); got.Bytes > 0 || spooled == 0 || spooled > spool || inMemory > memory {
		t.Errorf("the host of the slow consumer has %+v, and uses %d and %d bytes", got, inMemory, spooled)
	}
	if st.Spool == 0 || st.Spool > spool || st.Memory > memory+1<<20 || st.Memory+st.Spool >= size {
		t.Errorf("the sender has %+v", st)
	}
	if _, spooled := keeps.Used(); spooled > 0 {
		t.Errorf("the host of the other consumer has %d bytes in the spool", spooled)
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

// TestSilentMember checks that a member that accepts connections and never answers, as one that was
// stopped, delays only the start of a stream.
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
	// pass has some pieces sent one after the other, and returns their times, the longest one last.
	pass := func(n int) (took []time.Duration) {
		for range n {
			began := time.Now()
			_, err := io.CopyN(w, source, stream.PieceSize)
			check(t, err)
			peertest.Eventually(t, "the piece is released", func() bool {
				return c.sender.Stats().Memory <= stream.PieceSize
			})
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took
	}
	start, later := pass(first)[first-1], pass(passes-first)
	t.Logf("the start takes %v, later pieces %v", start, later)
	// A busy machine may delay some pieces.
	if later[len(later)*3/4] > start/2 {
		t.Errorf("the start takes %v, later pieces %v: these wait for the silent member too", start, later)
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
