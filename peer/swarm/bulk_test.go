package swarm_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// swarmOf returns the running swarm of a link, nil if there is none.
func swarmOf(n *peer.Node, link *proto.Link) *swarm.Swarm {
	tr, err := n.Transfer(link.Manifest.String())
	if err != nil {
		return nil
	}
	a, err := tr.Attach()
	if err != nil {
		return nil
	}
	return swarm.Of(a)
}

// channelsTo counts the bulk sockets and streams between two nodes for a link.
func channelsTo(n, other *peer.Node, link *proto.Link) (sockets, streams int) {
	if s := swarmOf(n, link); s != nil {
		sockets, streams, _ = s.Channels(other.Host().ID())
	}
	return sockets, streams
}

// slowly is the number of bytes that pass a gate at a time while a test waits for sockets, which are dialed
// between two blocks: so little that 16 MiB last for as long as it waits.
const slowly = 1 << 10

// redials has a node dial a bulk socket again with the next block. A dial fails if the machine stalls for seconds.
//
//nolint:gochecknoglobals // an option
var redials = peertest.WithFaults(swarm.Faults{DirectRetry: time.Millisecond})

// waitSocket waits until there is a bulk socket between two nodes for a link. Until then blocks pass the gate slowly.
func waitSocket(t *testing.T, gate *peertest.Gate, n, other *peer.Node, link *proto.Link) {
	t.Helper()
	peertest.Eventually(t, "a socket", func() bool {
		gate.Pass(slowly)
		sockets, _ := channelsTo(n, other, link)
		return sockets > 0
	})
}

// TestBulkSocket sends blocks on bulk sockets in both directions of dialing.
func TestBulkSocket(t *testing.T) {
	t.Parallel()
	for name, dialer := range map[string]func(seed, other *peer.Node) (*peer.Node, *peer.Node){
		"the seed is dialed": func(seed, other *peer.Node) (*peer.Node, *peer.Node) { return other, seed },
		"the seed dials":     func(seed, other *peer.Node) (*peer.Node, *peer.Node) { return seed, other },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := peertest.NewGate(1 << 20)
			a, b := peertest.Start(t, "A", redials, peertest.WithGate(gate)), peertest.Start(t, "B")
			_, link, content := peertest.SeedRandom(t, a, 4<<20, peer.SeedOptions{})
			out := filepath.Join(t.TempDir(), "out")
			from, to := dialer(a, b)
			if err := from.Host().Connect(t.Context(), peertest.AddrInfo(to)); err != nil {
				t.Fatal(err)
			}
			get := peertest.Get(t, b, link, out)
			// The first block waits for a socket for a moment only.
			waitSocket(t, gate, a, b, link)
			gate.Open()
			peertest.Wait(t, get)
			peertest.EqualFile(t, out, content)
			if direct, streams := channelsTo(a, b, link); direct != 1 || streams != 0 {
				t.Errorf("%d sockets and %d streams, want one socket", direct, streams)
			}
		})
	}
}

// TestBrokenChannel resets a channel after a block: the session continues, since the channel may belong to
// another session, which this one replaced.
func TestBrokenChannel(t *testing.T) {
	t.Parallel()
	node := peertest.Start(t, "A")
	_, link, _ := peertest.SeedRandom(t, node, 1<<20, peer.SeedOptions{})
	h := peertest.Stranger(t)
	s := control(t, h, node, link)
	go func() { _ = answerPings(s) }()
	channels := func() (n int, joined bool) {
		sockets, streams, joined := swarmOf(node, link).Channels(h.ID())
		return sockets + streams, joined
	}
	peertest.Eventually(t, "the session", func() bool { _, joined := channels(); return joined })
	ch, err := h.NewStream(t.Context(), node.Host().ID(), proto.BulkProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.WriteMessage(ch, &proto.BulkHello{Swarm: link.Manifest.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Write(blockOf(0, 0, 16<<10)); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the channel", func() bool { n, _ := channels(); return n == 1 })
	_ = ch.Reset()
	peertest.Eventually(t, "its end", func() bool { n, _ := channels(); return n == 0 })
	if _, joined := channels(); !joined {
		t.Error("the session ended with it")
	}
}

// TestSmallContentsTakeStreams checks that no bulk socket is dialed for small content.
func TestSmallContentsTakeStreams(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, a, 200_000, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	peertest.EqualFile(t, out, content)
	if sockets, streams := channelsTo(a, b, link); sockets != 0 || streams != 1 {
		t.Errorf("%d sockets and %d streams", sockets, streams)
	}
}

// TestLocalPeersTakeStreamsFirst fetches from a local peer, which dials a socket after a megabyte, not before.
func TestLocalPeersTakeStreamsFirst(t *testing.T) {
	t.Parallel()
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprintf("long %v", long), func(t *testing.T) {
			t.Parallel()
			gate, size := peertest.NewGate(3<<20), 512<<10
			if long {
				size = 8 << 20
			}
			a, b := peertest.Start(t, "A", redials, peertest.WithGate(gate)), peertest.Start(t, "A")
			_, link, content := peertest.SeedRandom(t, a, size, peer.SeedOptions{})
			out := filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, b, link, out)
			if long {
				waitSocket(t, gate, a, b, link)
			}
			gate.Open()
			peertest.Wait(t, get)
			peertest.EqualFile(t, out, content)
			if sockets, streams := channelsTo(a, b, link); (sockets > 0) != long || sockets+streams == 0 {
				t.Errorf("%d sockets and %d streams", sockets, streams)
			}
		})
	}
}

// stopListening makes a node unreachable except for the connections that it has or dials, until
// again is called.
func stopListening(t *testing.T, n *peer.Node) (again func()) {
	t.Helper()
	network, ok := n.Host().Network().(interface{ ListenClose(...ma.Multiaddr) })
	if !ok {
		t.Fatal("the host's listeners cannot be closed")
	}
	network.ListenClose(n.Host().Network().ListenAddresses()...)
	return func() { // at another port: another process may have the first one
		if err := n.Host().Network().Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0")); err != nil {
			t.Error(err)
		}
	}
}

// TestBulkStream sends blocks on a stream while there is no direct path, and on a socket once
// there is one.
func TestBulkStream(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("reachable later %v", late), func(t *testing.T) {
			t.Parallel()
			gate := peertest.NewGate(4 << 20)
			a, b := peertest.Start(t, "A", redials, peertest.WithGate(gate)), peertest.Start(t, "B")
			_, link, content := peertest.SeedRandom(t, a, 16<<20, peer.SeedOptions{})
			if err := b.Host().Connect(t.Context(), peertest.AddrInfo(a)); err != nil {
				t.Fatal(err)
			}
			again := stopListening(t, b)
			out := filepath.Join(t.TempDir(), "out")
			get := peertest.Get(t, b, link, out)
			if late {
				peertest.Eventually(t, "a stream", func() bool { _, n := channelsTo(a, b, link); return n > 0 })
				again()
				a.Host().Peerstore().AddAddrs(b.Host().ID(), b.Host().Addrs(), time.Hour) // it said that it has none
				waitSocket(t, gate, a, b, link)
			}
			gate.Open()
			peertest.Wait(t, get)
			peertest.EqualFile(t, out, content)
			if direct, streams := channelsTo(a, b, link); direct+streams != 1 || (direct == 1) != late {
				t.Errorf("%d sockets and %d streams", direct, streams)
			}
		})
	}
}

// TestLongPath opens several sockets on a path with a long round trip when blocks wait for it.
// What is fetched is requested in large windows, so that blocks wait however fast they are sent.
func TestLongPath(t *testing.T) {
	t.Parallel()
	long := swarm.Faults{
		Path:        func(*transport.Conn) transport.Path { return transport.Path{MinRTT: time.Second} },
		DirectRetry: time.Millisecond,
	}
	gate := peertest.NewGate(1 << 20)
	wide := peertest.Configure(func(c *peer.Config) {
		c.Tuning = mob.DefaultTuning()
		c.Tuning.MinBlock = 1 << 20
		c.Tuning.Queue = time.Minute
	})
	a, b := peertest.Start(t, "A", peertest.WithFaults(long), peertest.WithGate(gate)), peertest.Start(t, "B", wide)
	_, link, content := peertest.SeedRandom(t, a, 16<<20, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, b, link, out)
	peertest.Eventually(t, "several sockets", func() bool {
		gate.Pass(slowly)
		n, _ := channelsTo(a, b, link)
		return n == swarm.MaxFlows
	})
	gate.Open()
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if direct, streams := channelsTo(a, b, link); direct != swarm.MaxFlows || streams != 0 {
		t.Errorf("%d sockets and %d streams, want %d sockets", direct, streams, swarm.MaxFlows)
	}
}

// TestFastPath opens a socket for each core to a near peer that requests many bytes.
func TestFastPath(t *testing.T) {
	t.Parallel()
	gate := peertest.NewGate(6 << 20)
	fast := peertest.Configure(func(c *peer.Config) {
		c.Tuning = mob.DefaultTuning()
		c.Tuning.Queue = time.Minute
	})
	a, b := peertest.Start(t, "A", redials, peertest.WithGate(gate)), peertest.Start(t, "A", fast)
	_, link, content := peertest.SeedRandom(t, a, 32<<20, peer.SeedOptions{})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, b, link, out)
	want := min(runtime.GOMAXPROCS(0), swarm.MaxFlows)
	peertest.Eventually(t, "several sockets", func() bool {
		gate.Pass(slowly)
		n, _ := channelsTo(a, b, link)
		return n == want
	})
	gate.Open()
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if n, _ := channelsTo(a, b, link); n != want {
		t.Errorf("%d sockets, want %d", n, want)
	}
}

// TestLossyPath loses packets on a path without a queue. Its socket gets another congestion control, and so
// does the socket of the next session with its cluster, before its first loss. If the kernel does not allow
// that, more sockets send.
func TestLossyPath(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		t.Run(fmt.Sprintf("allowed %v", allowed), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var first *transport.Conn
			var lost uint64
			tried := map[*transport.Conn]bool{}
			lossy := swarm.Faults{
				Path: func(c *transport.Conn) transport.Path {
					mu.Lock()
					defer mu.Unlock()
					if first == nil {
						first = c
					}
					p := transport.Path{MinRTT: 50 * time.Millisecond, RTT: 50 * time.Millisecond}
					if c == first {
						lost++
						p.Lost = lost
					}
					return p
				},
				Congestion: func(c *transport.Conn, _ string) error {
					mu.Lock()
					defer mu.Unlock()
					tried[c] = true
					if allowed {
						return nil
					}
					return errors.ErrUnsupported
				},
				DirectRetry: time.Millisecond,
			}
			gate := peertest.NewGate(1 << 20)
			a := peertest.Start(t, "A", peertest.WithFaults(lossy), peertest.WithGate(gate))
			b, c := peertest.Start(t, "B"), peertest.Start(t, "B")
			_, link, content := peertest.SeedRandom(t, a, 16<<20, peer.SeedOptions{})
			sockets := func(n *peer.Node, want, tries int) {
				t.Helper()
				var got, triedOn int
				defer func() {
					if t.Failed() {
						t.Logf("there are %d sockets, and %d had another congestion control", got, triedOn)
					}
				}()
				peertest.Eventually(t, fmt.Sprintf("%d sockets, %d of them with another congestion control", want, tries), func() bool {
					gate.Pass(slowly)
					mu.Lock()
					defer mu.Unlock()
					got, _ = channelsTo(a, n, link)
					triedOn = len(tried)
					return got == want && triedOn == tries
				})
			}
			get := func(n *peer.Node, want, tries int) (wait func()) {
				out := filepath.Join(t.TempDir(), "out")
				tr := peertest.Get(t, n, link, out)
				sockets(n, want, tries)
				return func() {
					peertest.Wait(t, tr)
					peertest.EqualFile(t, out, content)
				}
			}
			want, tries := 1, 2
			if !allowed {
				want, tries = swarm.MaxFlows, 1
			}
			waitB := get(b, want, 1)
			waitC := get(c, want, tries)
			gate.Open()
			waitB()
			waitC()
		})
	}
}

// TestUselessSocketsAreClosed opens sockets without a valid opening. The node closes them, and continues to
// serve its peers.
func TestUselessSocketsAreClosed(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	_, link, content := peertest.SeedRandom(t, n, 4<<20, peer.SeedOptions{})
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end, err := transport.NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, end, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const soon = time.Minute
	// ends reports whether a socket is closed within d after a write to it.
	ends := func(say []byte, d time.Duration) bool {
		t.Helper()
		c, err := end.Dial(t.Context(), n.Host().ID(), n.Host().Addrs()[0])
		if err != nil {
			return true
		}
		t.Cleanup(func() { c.Reset() })
		_, _ = c.Write(say)
		_ = c.SetReadDeadline(time.Now().Add(d))
		_, err = c.Read(make([]byte, 1))
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	frame := func(m proto.Message) []byte {
		b, err := proto.AppendFrame(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	hello := frame(&proto.BulkHello{Swarm: link.Manifest.Bytes()})
	if !ends(nil, soon) {
		t.Error("a node that is not connected keeps a socket")
	}
	if err := h.Connect(t.Context(), peertest.AddrInfo(n)); err != nil {
		t.Fatal(err)
	}
	if !ends(hello, soon) {
		t.Error("a node that is not in the swarm keeps a socket")
	}
	s := control(t, h, n, link)
	go func() { _ = answerPings(s) }() // the session does not end for silence, however long the sockets take
	waitSession(t, h, n, link)
	for name, say := range map[string][]byte{
		"garbage":          []byte(strings.Repeat("garbage ", 1000)),
		"an unknown swarm": frame(&proto.BulkHello{Swarm: []byte{1, 2, 3}}),
		"another message":  frame(&proto.Ping{}),
		"oversized frame":  {0xff, 0xff, 0xff, 0xff, 1},
	} {
		if !ends(say, soon) {
			t.Errorf("%s: the socket stays open", name)
		}
	}
	for i := range swarm.MaxChannels {
		if ends(hello, time.Millisecond) {
			t.Fatalf("socket %d of a session was closed", i)
		}
		peertest.Eventually(t, "a further socket", func() bool {
			sockets, _, _ := swarmOf(n, link).Channels(h.ID())
			return sockets == i+1
		})
	}
	if !ends(hello, soon) {
		t.Errorf("a session has more than %d sockets", swarm.MaxChannels)
	}
	b := peertest.Start(t, "B")
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	peertest.EqualFile(t, out, content)
}

// blockOf returns the frame of a block of n zeros.
func blockOf(piece, begin uint32, n int) []byte {
	return append(proto.AppendBlockHeader(nil, piece, begin, n), make([]byte, n)...)
}
