package peer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// channelsTo counts the channels that a node has with another for a content: sockets
// of their own, and streams.
func channelsTo(n, other *Node, link *proto.Link) (direct, streams int) {
	if s := n.swarm(link.Manifest.Bytes()); s != nil {
		direct, streams, _ = s.Channels(other.host.ID())
	}
	return direct, streams
}

// TestBlocksComeOnSocketsOfTheirOwn, whoever dialled whom.
func TestBlocksComeOnSocketsOfTheirOwn(t *testing.T) {
	for name, dialer := range map[string]func(seed, other *Node) (*Node, *Node){
		"the seed is dialled": func(seed, other *Node) (*Node, *Node) { return other, seed },
		"the seed dials":      func(seed, other *Node) (*Node, *Node) { return seed, other },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
			_, link, content := seedAndLink(t, a, 24<<20)
			out := filepath.Join(t.TempDir(), "out")
			from, to := dialer(a, b)
			if err := from.host.Connect(t.Context(), addrInfo(to)); err != nil {
				t.Fatal(err)
			}
			mustWait(t, mustGet(t, b, link, out))
			mustEqual(t, out, content)
			if direct, streams := channelsTo(a, b, link); direct != 1 || streams != 0 {
				t.Errorf("%d sockets and %d streams, want one socket", direct, streams)
			}
		})
	}
}

// TestChannelBreaksAlone has a channel break on which a block has come: the session
// goes on, since the channel may have been of another that was given up for it.
func TestChannelBreaksAlone(t *testing.T) {
	node := startNode(t, "A", t.TempDir())
	_, link, _ := seedAndLink(t, node, 1<<20)
	h := stranger(t)
	control(t, h, node, link)
	channels := func() (n int, joined bool) {
		sockets, streams, joined := node.swarm(link.Manifest.Bytes()).Channels(h.ID())
		return sockets + streams, joined
	}
	eventually(t, "the session", func() bool { _, joined := channels(); return joined })
	ch, err := h.NewStream(t.Context(), node.host.ID(), proto.BulkProtocol)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []proto.Message{&proto.BulkHello{Swarm: link.Manifest.Bytes()}, &proto.Block{Data: make([]byte, 16<<10)}} {
		if err := proto.WriteMessage(ch, m); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the channel", func() bool { n, _ := channels(); return n == 1 })
	_ = ch.Reset()
	eventually(t, "its end", func() bool { n, _ := channels(); return n == 0 })
	if _, joined := channels(); !joined {
		t.Error("the session ended with it")
	}
}

// stopListening makes a node unreachable, but for the connections that it has
// and those that it dials. What it gives undoes that.
func stopListening(t *testing.T, n *Node) (again func()) {
	t.Helper()
	network, ok := n.host.Network().(interface{ ListenClose(...ma.Multiaddr) })
	if !ok {
		t.Fatal("the host's listeners cannot be closed")
	}
	at := n.host.Network().ListenAddresses()
	network.ListenClose(at...)
	return func() {
		if err := n.host.Network().Listen(at...); err != nil {
			t.Error(err)
		}
	}
}

// TestBlocksComeOnAStream where there is no direct path, and on a socket as soon
// as there is one.
func TestBlocksComeOnAStream(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("reachable later %v", late), func(t *testing.T) {
			a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
			a.faults.DirectRetry = time.Millisecond
			_, link, content := seedAndLink(t, a, 96<<20)
			if err := b.host.Connect(t.Context(), addrInfo(a)); err != nil {
				t.Fatal(err)
			}
			again := stopListening(t, b)
			out := filepath.Join(t.TempDir(), "out")
			get := mustGet(t, b, link, out)
			if late {
				eventually(t, "a stream", func() bool { _, n := channelsTo(a, b, link); return n > 0 })
				again()
			}
			mustWait(t, get)
			mustEqual(t, out, content)
			if direct, streams := channelsTo(a, b, link); direct+streams != 1 || (direct == 1) != late {
				t.Errorf("%d sockets and %d streams", direct, streams)
			}
		})
	}
}

// TestLongPathHasSeveralSockets when blocks wait for it.
func TestLongPathHasSeveralSockets(t *testing.T) {
	a, b := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	a.faults.RTT = func(*transport.Conn) time.Duration { return time.Second }
	_, link, content := seedAndLink(t, a, 192<<20)
	out := filepath.Join(t.TempDir(), "out")
	mustWait(t, mustGet(t, b, link, out))
	mustEqual(t, out, content)
	if direct, streams := channelsTo(a, b, link); direct != swarm.MaxFlows || streams != 0 {
		t.Errorf("%d sockets and %d streams, want %d sockets", direct, streams, swarm.MaxFlows)
	}
}

func addrInfo(n *Node) libpeer.AddrInfo {
	return libpeer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}
}

// TestSocketsOfStrangers end when they are of no use, and do no harm.
func TestSocketsOfStrangers(t *testing.T) {
	n := startNode(t, "A", t.TempDir())
	_, link, content := seedAndLink(t, n, 4<<20)
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end, err := transport.NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, end)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const soon = 5 * time.Second
	// ends says whether a socket that says that is closed within d.
	ends := func(say []byte, d time.Duration) bool {
		t.Helper()
		c, err := end.Dial(t.Context(), n.host.ID(), n.host.Addrs()[0])
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
	if err := h.Connect(t.Context(), addrInfo(n)); err != nil {
		t.Fatal(err)
	}
	if !ends(hello, soon) {
		t.Error("a node that is not in the swarm keeps a socket")
	}
	control(t, h, n, link)
	eventually(t, "the session", func() bool { _, _, joined := n.swarm(link.Manifest.Bytes()).Channels(h.ID()); return joined })
	for name, say := range map[string][]byte{
		"garbage":          []byte(strings.Repeat("garbage ", 1000)),
		"an unknown swarm": frame(&proto.BulkHello{Swarm: []byte{1, 2, 3}}),
		"another message":  frame(&proto.Ping{}),
		"oversized frame":  {0xff, 0xff, 0xff, 0xff, 1},
	} {
		if !ends(say, soon) {
			t.Errorf("%s: the socket goes on", name)
		}
	}
	for i := range swarm.MaxChannels {
		if ends(hello, 50*time.Millisecond) {
			t.Fatalf("socket %d of a session was closed", i)
		}
	}
	if !ends(hello, soon) {
		t.Errorf("a session has more than %d sockets", swarm.MaxChannels)
	}
	b := startNode(t, "B", t.TempDir())
	out := filepath.Join(t.TempDir(), "out")
	mustWait(t, mustGet(t, b, link, out))
	mustEqual(t, out, content)
}
