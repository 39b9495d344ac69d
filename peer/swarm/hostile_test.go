package swarm_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// control opens a control stream from h to n and exchanges Hellos.
func control(t *testing.T, h libhost.Host, n *peer.Node, link *proto.Link) network.Stream {
	t.Helper()
	return controlAs(t, h, n, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
}

// controlAs does so with another Hello, which more messages follow immediately.
func controlAs(t *testing.T, h libhost.Host, n *peer.Node, hello *proto.Hello, more ...proto.Message) network.Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), peertest.WaitTimeout)
	defer cancel()
	if err := h.Connect(ctx, peertest.AddrInfo(n)); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewStream(ctx, n.Host().ID(), proto.ControlProtocol)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append([]proto.Message{hello}, more...) {
		if err := proto.WriteMessage(s, m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := proto.ReadMessage(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// waitSession waits until the session of a host has started.
func waitSession(t *testing.T, h libhost.Host, n *peer.Node, link *proto.Link) {
	t.Helper()
	peertest.Eventually(t, "the session", func() bool { _, _, joined := swarmOf(n, link).Channels(h.ID()); return joined })
}

// answerPings answers the pings on a control stream until it ends, and returns the reason.
func answerPings(s network.Stream) error {
	for {
		m, err := proto.ReadMessage(s)
		if err != nil {
			return err
		}
		if ping, ok := m.(*proto.Ping); ok {
			_ = proto.WriteMessage(s, &proto.Pong{Nonce: ping.Nonce})
		}
	}
}

// waitEnd waits until a node ends a session. It answers pings, since a node ends the session of any silent peer.
func waitEnd(t *testing.T, s network.Stream) {
	t.Helper()
	_ = s.SetReadDeadline(time.Now().Add(peertest.WaitTimeout))
	err := answerPings(s)
	if te, ok := err.(interface{ Timeout() bool }); ok && te.Timeout() {
		t.Error("the session continues")
	}
}

// attack has a host join a node that dials it, and do with 64 pieces on the control stream what a
// function does. That reports whether it was banned, which the channel tells.
func attack(
	h libhost.Host, victim *peer.Node, link *proto.Link,
	do func(h libhost.Host, to libpeer.ID, s network.Stream, link *proto.Link, pieces int) (banned bool),
) <-chan struct{} {
	banned := make(chan struct{}, 100)
	h.SetStreamHandler(proto.ControlProtocol, func(s network.Stream) {
		if _, err := proto.ReadMessage(s); err != nil {
			return
		}
		_ = proto.WriteMessage(s, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
		if do(h, victim.Host().ID(), s, link, 64) {
			banned <- struct{}{}
		}
	})
	return banned
}

// pollute answers every request on a control stream with garbage of the right size. It
// reports whether the peer ends the session with a ban.
func pollute(h libhost.Host, to libpeer.ID, s network.Stream, link *proto.Link, pieces int) (banned bool) {
	defer s.Reset()
	_ = proto.WriteMessage(s, &proto.Have{Have: []proto.Range{{Count: uint32(pieces)}}})
	var bulk network.Stream
	for {
		m, err := proto.ReadMessage(s)
		if err != nil {
			return false
		}
		switch m := m.(type) {
		case *proto.Request:
			if bulk == nil { // a node resets the channels of peers that have not joined yet
				bulk, err = h.NewStream(context.Background(), to, proto.BulkProtocol)
				if err != nil {
					return false
				}
				defer bulk.Reset()
				_ = proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()})
			}
			_, err = bulk.Write(blockOf(m.Piece, m.Begin, int(m.Length)))
			if err != nil {
				return false
			}
		case *proto.Ping:
			_ = proto.WriteMessage(s, &proto.Pong{Nonce: m.Nonce})
		case *proto.Goodbye:
			return m.Code == proto.CodeBanned
		}
	}
}

// TestPolluterIsBanned checks that a peer that sends corrupt blocks is banned, and that an honest seed
// completes the content.
func TestPolluterIsBanned(t *testing.T) {
	t.Parallel()
	eager := peertest.Configure(func(c *peer.Config) {
		c.Tuning = mob.DefaultTuning()
		c.Tuning.Settle = 100 * time.Millisecond // no other member exists
		c.Tuning.Dead = 3 * time.Second          // the polluter does not answer reports of bad pieces
	})
	good, victim := peertest.Start(t, "A"), peertest.Start(t, "B", eager)
	seed, link, content := peertest.SeedRandom(t, good, 8<<20, peer.SeedOptions{})
	link.Peers = nil
	out := filepath.Join(t.TempDir(), "out")

	// The polluter is the only peer that the victim knows of, until the polluter is banned.
	h := peertest.Stranger(t)
	h.SetStreamHandler(proto.ManifestProtocol, func(s network.Stream) {
		metadata.NewServer().Serve(s, func([]byte) []byte { return seed.Description().EncodedManifest() })
	})
	banned := attack(h, victim, link, pollute)
	bad := *link
	bad.Peers = peertest.LinkAddrs(t, h)
	get := peertest.Get(t, victim, &bad, out)
	peertest.Eventually(t, "the ban of the polluter", func() bool { return len(banned) > 0 })
	if st := get.Status(); st.PiecesHave != 0 {
		t.Errorf("%d pieces of garbage were taken", st.PiecesHave)
	}
	if err := swarmOf(good, link).Connect(peertest.AddrInfo(victim)); err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	peertest.Eventually(t, "the end of the polluter's session", func() bool {
		_, _, joined := swarmOf(victim, link).Channels(h.ID())
		return !joined
	})
}

// TestMalformedStreams writes too much, nonsense or nothing to streams: the node closes them,
// and continues to serve its peers.
func TestMalformedStreams(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	_, link, content := peertest.SeedRandom(t, n, 4<<20, peer.SeedOptions{})
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
		"second Hello": func(s network.Stream) {
			_ = proto.WriteMessage(s, &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "evil"})
		},
	}
	for name, say := range cases {
		t.Run(name, func(t *testing.T) {
			h := peertest.Stranger(t)
			s := control(t, h, n, link)
			say(s)
			waitEnd(t, s)
		})
	}
	t.Run("every protocol", func(t *testing.T) {
		h := peertest.Stranger(t)
		ctx := context.Background()
		if err := h.Connect(ctx, peertest.AddrInfo(n)); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{proto.ControlProtocol, proto.BulkProtocol, proto.ManifestProtocol, proto.TorrentProtocol} {
			for _, junk := range []string{"", "\x00\x00\x00\x05\x0fabcd", "\x7f\xff\xff\xff\x01", strings.Repeat("x", 4096)} {
				s, err := h.NewStream(ctx, n.Host().ID(), protocol.ID(id))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(s, junk)
				_ = s.CloseWrite()
				_ = s.SetReadDeadline(time.Now().Add(peertest.WaitTimeout))
				_, _ = io.Copy(io.Discard, s)
				_ = s.Reset()
			}
		}
	})
	// It still serves.
	b := peertest.Start(t, "B")
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	peertest.EqualFile(t, out, content)
}

// TestBannedPeerReturns checks that a banned peer that joins again and again is in the log twice: for the ban, and for the first
// rejection.
func TestBannedPeerReturns(t *testing.T) {
	t.Parallel()
	log := new(peertest.Recorder)
	n := peertest.Start(t, "A", peertest.Log(log.Logger()))
	_, link, _ := peertest.SeedRandom(t, n, 4<<20, peer.SeedOptions{})
	h := peertest.Stranger(t)
	for range 20 {
		s := control(t, h, n, link)
		_ = s.SetDeadline(time.Now().Add(peertest.WaitTimeout))
		go func() { // far more than the budget, unless the node ends the session before
			for nonce := range uint64(1 << 20) {
				if proto.WriteMessage(s, &proto.Ping{Nonce: nonce}) != nil {
					return
				}
			}
		}()
		for {
			m, err := proto.ReadMessage(s)
			if bye, ok := m.(*proto.Goodbye); ok && bye.Code != proto.CodeBanned {
				t.Fatalf("goodbye %+v", bye)
			}
			if err != nil {
				break
			}
		}
		_ = s.Reset()
	}
	if n := log.Count("peer dropped"); n != 2 {
		t.Errorf("%d lines of the log:\n%s", n, log)
	}
}

// TestMembersFlood checks that a peer is banned that names members without end: each time the node looks at all candidates.
func TestMembersFlood(t *testing.T) {
	t.Parallel()
	log := new(peertest.Recorder)
	n := peertest.Start(t, "A", peertest.Log(log.Logger()))
	_, link, _ := peertest.SeedRandom(t, n, 4<<20, peer.SeedOptions{})
	s := control(t, peertest.Stranger(t), n, link)
	_ = s.SetDeadline(time.Now().Add(peertest.WaitTimeout))
	go func() { // far more than the budget, unless the node ends the session before
		for range 1 << 20 {
			if proto.WriteMessage(s, &proto.Members{}) != nil {
				return
			}
		}
	}()
	_, _ = io.Copy(io.Discard, s)
	if log.Count("too many messages") != 1 {
		t.Errorf("the log is %q", log)
	}
}

// TestUnrequestedBlocks checks that unrequested blocks are dropped, and that too many of them end the
// session.
func TestUnrequestedBlocks(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	_, link, content := peertest.SeedRandom(t, n, 4<<20, peer.SeedOptions{})
	h := peertest.Stranger(t)
	s := control(t, h, n, link)
	waitSession(t, h, n, link)
	bulk, err := h.NewStream(context.Background(), n.Host().ID(), proto.BulkProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()}); err != nil {
		t.Fatal(err)
	}
	for range 2 * swarm.MaxUnrequested {
		if _, err := bulk.Write(blockOf(0, 0, 16<<10)); err != nil {
			break
		}
	}
	waitEnd(t, s)
	b := peertest.Start(t, "B")
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, peertest.Get(t, b, link, out))
	peertest.EqualFile(t, out, content)
}

// poison announces every piece, sends one corrupt block of each requested piece, rejects the remaining
// requests, so other peers send the rest, and announces the pieces again after reports. It returns whether
// the peer ends the session with a ban.
func poison(h libhost.Host, to libpeer.ID, s network.Stream, link *proto.Link, pieces int) (banned bool) {
	defer s.Reset()
	_ = proto.WriteMessage(s, &proto.Have{Have: []proto.Range{{Count: uint32(pieces)}}})
	var bulk network.Stream
	again := func(piece uint32) {
		_ = proto.WriteMessage(s, &proto.Have{Have: []proto.Range{{First: piece, Count: 1}}})
	}
	for {
		m, err := proto.ReadMessage(s)
		if err != nil {
			return false
		}
		switch m := m.(type) {
		case *proto.Request:
			if m.Begin > 0 {
				_ = proto.WriteMessage(s, &proto.Reject{Span: m.Span})
				again(m.Piece)
				continue
			}
			if bulk == nil {
				if bulk, err = h.NewStream(context.Background(), to, proto.BulkProtocol); err != nil {
					return false
				}
				defer bulk.Reset()
				_ = proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()})
			}
			_, _ = bulk.Write(blockOf(m.Piece, m.Begin, int(m.Length)))
		case *proto.Bad:
			again(m.Piece)
		case *proto.Ping:
			_ = proto.WriteMessage(s, &proto.Pong{Nonce: m.Nonce})
		case *proto.Goodbye:
			return m.Code == proto.CodeBanned
		}
	}
}

// TestPoisonIsTraced lets one peer send a corrupt block of each piece, and another one the remaining blocks.
// Only the first is banned, and the content arrives.
func TestPoisonIsTraced(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	gate := peertest.NewGate(1 << 20)
	log := new(peertest.Recorder)
	good, victim := peertest.Start(t, "A", peertest.WithGate(gate)), peertest.Start(t, "B", peertest.Log(log.Logger()))
	_, link, content := peertest.SeedRandom(t, good, 32<<20, peer.SeedOptions{PieceLength: 512 << 10})
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, victim, link, out)
	peertest.Eventually(t, "a session", func() bool { return get.Status().PiecesHave > 0 })

	h := peertest.Stranger(t)
	banned := attack(h, victim, link, poison)
	if err := swarmOf(victim, link).Connect(libpeer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the ban", func() bool {
		gate.Pass(64 << 10) // the other peer is slow
		return len(banned) > 0
	})
	gate.Open()
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if n := log.Count("peer dropped"); n != 1 {
		t.Errorf("%d peers were dropped:\n%s", n, log)
	}
}
