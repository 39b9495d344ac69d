package peer

import (
	"context"
	"crypto/rand"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// stranger is a libp2p host that speaks the protocol as a test wants it to.
func stranger(t *testing.T) libhost.Host {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// control opens a control stream from h to n and exchanges Hellos.
func control(t *testing.T, h libhost.Host, n *Node, link *proto.Link) network.Stream {
	t.Helper()
	return controlAs(t, h, n, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
}

// controlAs does that with a greeting of the test's.
func controlAs(t *testing.T, h libhost.Host, n *Node, hello *proto.Hello) network.Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Connect(ctx, libpeer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewStream(ctx, n.host.ID(), proto.ControlProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.WriteMessage(s, hello); err != nil {
		t.Fatal(err)
	}
	if _, err := proto.ReadMessage(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// lie answers every request on a control stream with garbage of the right size.
func lie(h libhost.Host, to libpeer.ID, s network.Stream, link *proto.Link, pieces int) {
	defer s.Reset()
	_ = proto.WriteMessage(s, &proto.Have{Have: []proto.Range{{Count: uint32(pieces)}}})
	bulk, err := h.NewStream(context.Background(), to, proto.BulkProtocol)
	if err != nil {
		return
	}
	defer bulk.Reset()
	_ = proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()})
	for {
		m, err := proto.ReadMessage(s)
		if err != nil {
			return
		}
		if r, ok := m.(*proto.Request); ok {
			if proto.WriteMessage(bulk, &proto.Block{Piece: r.Piece, Begin: r.Begin, Data: make([]byte, r.Length)}) != nil {
				return
			}
		}
		if p, ok := m.(*proto.Ping); ok {
			_ = proto.WriteMessage(s, &proto.Pong{Nonce: p.Nonce})
		}
	}
}

// TestLiarIsBanned has a peer that sends wrong blocks; with a good seed beside
// it the content arrives intact, and the liar is thrown out.
func TestLiarIsBanned(t *testing.T) {
	good, victim := startNode(t, "A", t.TempDir()), startNode(t, "B", t.TempDir())
	_, link, content := seedAndLink(t, good, 16<<20)
	link.Peers = nil
	out := filepath.Join(t.TempDir(), "out")

	// The victim gets the manifest from a link that names the good seed, which
	// is then away until the liar has had its chance.
	h := stranger(t)
	h.SetStreamHandler(proto.ManifestProtocol, func(s network.Stream) {
		defer s.Close()
		if _, err := proto.ReadMessage(s); err != nil {
			return
		}
		b, err := good.manifestBytes(link.Manifest.Bytes())
		if err != nil {
			return
		}
		_ = proto.WriteMessage(s, &proto.ManifestReply{Length: uint32(len(b))})
		_, _ = s.Write(b)
	})
	liars := make(chan struct{}, 100)
	h.SetStreamHandler(proto.ControlProtocol, func(s network.Stream) {
		if _, err := proto.ReadMessage(s); err != nil {
			return
		}
		_ = proto.WriteMessage(s, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
		lie(h, victim.host.ID(), s, link, 64)
		liars <- struct{}{}
	})
	addrs, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	bad := *link
	bad.Peers = addrs
	get := mustGet(t, victim, &bad, out)
	select {
	case <-liars:
	case <-time.After(20 * time.Second):
		t.Fatalf("the liar was not thrown out: %+v", get.Status())
	}
	if st := get.Status(); st.PiecesHave != 0 {
		t.Errorf("%d pieces of garbage were taken", st.PiecesHave)
	}
	control := connectNodes(t, good, victim, link)
	control()
	mustWait(t, get)
	mustEqual(t, out, content)
	if _, _, joined := victim.swarm(link.Manifest.Bytes()).Channels(h.ID()); joined {
		t.Error("the liar is still a peer")
	}
}

// connectNodes has a dial b for the content of link.
func connectNodes(t *testing.T, a, b *Node, link *proto.Link) func() {
	t.Helper()
	return func() {
		err := a.swarm(link.Manifest.Bytes()).Connect(libpeer.AddrInfo{ID: b.host.ID(), Addrs: b.host.Addrs()})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStrangersDoNoHarm opens streams that say too much, nonsense, or nothing.
func TestStrangersDoNoHarm(t *testing.T) {
	n := startNode(t, "A", t.TempDir())
	_, link, content := seedAndLink(t, n, 4<<20)
	cases := map[string]func(s network.Stream){
		"oversized frame": func(s network.Stream) { _, _ = s.Write([]byte{0xff, 0xff, 0xff, 0xff, 1}) },
		"garbage":         func(s network.Stream) { _, _ = s.Write([]byte(strings.Repeat("garbage ", 1000))) },
		"empty frame":     func(s network.Stream) { _, _ = s.Write([]byte{0, 0, 0, 0, 0}) },
		"unknown type":    func(s network.Stream) { _, _ = s.Write([]byte{0, 0, 0, 2, 99, 0x80}) },
		"piece beyond the end": func(s network.Stream) {
			_ = proto.WriteMessage(s, &proto.Request{Span: proto.Span{Piece: 1000, Length: 1}})
		},
		"span beyond the piece": func(s network.Stream) {
			_ = proto.WriteMessage(s, &proto.Request{Span: proto.Span{Begin: 255 << 10, Length: 64 << 10}})
		},
		"second greeting": func(s network.Stream) {
			_ = proto.WriteMessage(s, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
		},
	}
	for name, say := range cases {
		t.Run(name, func(t *testing.T) {
			h := stranger(t)
			s := control(t, h, n, link)
			say(s)
			_ = s.SetReadDeadline(time.Now().Add(10 * time.Second))
			for {
				m, err := proto.ReadMessage(s)
				if err != nil {
					if te, ok := err.(interface{ Timeout() bool }); ok && te.Timeout() {
						t.Error("the stream was left open")
					}
					return
				}
				if _, ok := m.(*proto.Goodbye); ok {
					return
				}
			}
		})
	}
	t.Run("every protocol", func(t *testing.T) {
		h := stranger(t)
		ctx := context.Background()
		if err := h.Connect(ctx, libpeer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{proto.ControlProtocol, proto.BulkProtocol, proto.ManifestProtocol, proto.TorrentProtocol} {
			for _, junk := range []string{"", "\x00\x00\x00\x05\x0fabcd", "\x7f\xff\xff\xff\x01", strings.Repeat("x", 4096)} {
				s, err := h.NewStream(ctx, n.host.ID(), protocol.ID(id))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(s, junk)
				_ = s.CloseWrite()
				_ = s.SetReadDeadline(time.Now().Add(15 * time.Second))
				_, _ = io.Copy(io.Discard, s)
				_ = s.Reset()
			}
		}
	})
	// It still serves.
	b := startNode(t, "B", t.TempDir())
	out := filepath.Join(t.TempDir(), "out")
	mustWait(t, mustGet(t, b, link, out))
	mustEqual(t, out, content)
}

// TestBlocksNobodyAskedFor are not written, and too many of them end the session.
func TestBlocksNobodyAskedFor(t *testing.T) {
	n := startNode(t, "A", t.TempDir())
	_, link, content := seedAndLink(t, n, 4<<20)
	h := stranger(t)
	s := control(t, h, n, link)
	bulk, err := h.NewStream(context.Background(), n.host.ID(), proto.BulkProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()}); err != nil {
		t.Fatal(err)
	}
	for range 2 * swarm.MaxUnrequested {
		if proto.WriteMessage(bulk, &proto.Block{Data: make([]byte, 16<<10)}) != nil {
			break
		}
	}
	_ = s.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err = io.Copy(io.Discard, s)
	if te, ok := err.(interface{ Timeout() bool }); ok && te.Timeout() {
		t.Error("the session goes on")
	}
	b := startNode(t, "B", t.TempDir())
	out := filepath.Join(t.TempDir(), "out")
	mustWait(t, mustGet(t, b, link, out))
	mustEqual(t, out, content)
}
