package bittorrent

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// tellerNumber is that of a scripted client's metadata messages.
const tellerNumber = 7

// startTeller is a scripted client at a loopback address that waits for the node. do
// is what each connection does; came counts them.
func startTeller(t *testing.T, s *sample, ip string, do func(c *client)) (at netip.AddrPort, came *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	at, came = l.Addr().(*net.TCPAddr).AddrPort(), new(atomic.Int32)
	go greetEach(t, l, modern.handshake(s, byte(at.Port())), s, func(c *client) {
		came.Add(1)
		do(c)
	})
	return at, came
}

// claim says that the client has an info dictionary of so many bytes.
func (c *client) claim(size int) {
	c.introduce(extended{Messages: map[string]int64{pp.ExtensionNameMetadata: tellerNumber}, Metadata: size})
}

// tell answers every request for a part of the info dictionary as do says, until the
// connection ends.
func (c *client) tell(do func(part int) (m metadataMessage, payload []byte)) {
	for {
		w, err := c.hear()
		if err != nil {
			return
		}
		if w.kind != pp.Extended || len(w.payload) == 0 || w.payload[0] != tellerNumber {
			continue
		}
		m, _, err := readMetadata(w.payload[1:])
		if err != nil || m.Type != pp.RequestMetadataExtensionMsgType {
			continue
		}
		m, payload := do(m.Piece)
		c.say(pp.Extended, append(append([]byte{ownMetadata}, bencode.MustMarshal(m)...), payload...))
	}
}

// partOf is a client's honest answer.
func partOf(info []byte, part int) (metadataMessage, []byte) {
	return metadataMessage{Type: pp.DataMetadataExtensionMsgType, Piece: part, Total: len(info)}, info[part*chunk : min(len(info), (part+1)*chunk)]
}

// honest tells what there is, behind what clients say first.
func honest(c *client) {
	c.say(pp.HaveAll, nil)
	c.claim(len(c.s.torrent.Info))
	c.say(pp.Unchoke, nil)
	c.tell(func(part int) (metadataMessage, []byte) { return partOf(c.s.torrent.Info, part) })
}

func startServer(t testing.TB) *Server {
	t.Helper()
	s, err := Listen(Config{Listen: "127.0.0.1:0", Client: "mob test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *sample) plainLink(peers ...netip.AddrPort) *proto.Link {
	return &proto.Link{InfoHash: proto.InfoHash(s.torrent.Hash), TorrentPeers: peers}
}

// newTold is a sample whose info dictionary, of which nobody here looks at more than
// the hash, has more parts than a client is asked for at a time.
func newTold(t testing.TB) *sample {
	t.Helper()
	s := newSample(t, 1<<20)
	s.torrent.Info = make([]byte, (partsAhead+1)*chunk+1)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(s.torrent.Info) // never fails
	s.torrent.Hash = sha1.Sum(s.torrent.Info)
	return s
}

func TestDescribe(t *testing.T) {
	s := newTold(t)
	at, came := startTeller(t, s, "127.0.0.1", honest)
	got, err := startServer(t).Describe(t.Context(), s.plainLink(at))
	if err != nil || !bytes.Equal(got, s.torrent.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if came.Load() != 1 {
		t.Errorf("the client was asked %d times", came.Load())
	}
}

// TestDescribeByWhoComes has the client connect to the node.
func TestDescribeByWhoComes(t *testing.T) {
	s := newSample(t, 1<<20)
	server := startServer(t)
	go func() {
		for t.Context().Err() == nil {
			conn, err := net.Dial("tcp", server.Addr().String())
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			if _, err := greet(conn, *modern.handshake(s, 1)); err == nil { // refused before Describe
				honest(&client{t: t, conn: conn, s: s})
			}
			conn.Close()
		}
	}()
	if got, err := server.Describe(t.Context(), s.plainLink()); err != nil || !bytes.Equal(got, s.torrent.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// TestDescribeByNode asks another node, as any client would, and then fetches from it.
func TestDescribeByNode(t *testing.T) {
	s := newTold(t)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	at := n.server.Addr().(*net.TCPAddr).AddrPort()
	if got, err := startServer(t).Describe(t.Context(), s.plainLink(at)); err != nil || !bytes.Equal(got, s.torrent.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// liars are clients that tell what is wrong, or do not tell. Of those that harm, the
// address is kept out.
func liars() map[string]struct {
	do     func(c *client)
	banned bool
} {
	answer := func(size func(right int) int, do func(info []byte, part int) (metadataMessage, []byte)) func(*client) {
		return func(c *client) {
			info := bytes.Clone(c.s.torrent.Info)
			info = info[:min(len(info), size(len(info)))]
			info = append(info, make([]byte, max(0, size(len(info))-len(info)))...)
			c.claim(len(info))
			c.tell(func(part int) (metadataMessage, []byte) { return do(info, part) })
		}
	}
	right := func(n int) int { return n }
	claims := func(n int) func(*client) {
		return func(c *client) {
			c.claim(n)
			c.tell(func(part int) (metadataMessage, []byte) {
				return metadataMessage{Type: pp.DataMetadataExtensionMsgType, Piece: part, Total: n}, make([]byte, chunk)
			})
		}
	}
	wrong := func(f func(m *metadataMessage, payload *[]byte)) func(*client) {
		return answer(right, func(info []byte, part int) (metadataMessage, []byte) {
			m, payload := partOf(info, part)
			f(&m, &payload)
			return m, payload
		})
	}
	return map[string]struct {
		do     func(c *client)
		banned bool
	}{
		"too long":       {answer(func(n int) int { return n + 1 }, partOf), true},
		"too short":      {answer(func(n int) int { return n - 1 }, partOf), true},
		"100 MB":         {claims(100 << 20), true},
		"less than none": {claims(-1), true},
		"wrong bytes":    {wrong(func(_ *metadataMessage, p *[]byte) { *p = make([]byte, len(*p)) }), true},
		"short part":     {wrong(func(_ *metadataMessage, p *[]byte) { *p = (*p)[1:] }), true},
		"long part":      {wrong(func(_ *metadataMessage, p *[]byte) { *p = append(bytes.Clone(*p), 0) }), true},
		"one part":       {wrong(func(m *metadataMessage, _ *[]byte) { m.Piece = 0 }), true},
		"another part":   {wrong(func(m *metadataMessage, _ *[]byte) { m.Piece = 1 << 30 }), true},
		"part below 0":   {wrong(func(m *metadataMessage, _ *[]byte) { m.Piece = -1 }), true},
		"another total":  {wrong(func(m *metadataMessage, _ *[]byte) { m.Total++ }), true},
		"rejects": {wrong(func(m *metadataMessage, p *[]byte) {
			m.Type, *p = pp.RejectMetadataExtensionMsgType, nil
		}), false},
		"nothing to tell": {func(c *client) { c.introduce(extended{}) }, false},
		"huge message":    {func(c *client) { c.claim(100); c.raw(0x7f, 0xff, 0xff, 0xff, 5); c.closed() }, true},
		"huge extended":   {func(c *client) { c.claim(100); c.raw(0x7f, 0xff, 0xff, 0xff, byte(pp.Extended)); c.closed() }, true},
		"broken":          {func(c *client) { c.say(pp.Extended, []byte("\x00d1:m")) }, true},
		"silence":         {func(c *client) { _, _ = c.conn.Read(make([]byte, 1)); c.closed() }, false},
		"silence after the introduction": {func(c *client) {
			c.claim(len(c.s.torrent.Info))
			c.closed()
		}, false},
	}
}

// TestDescribeDespiteLiars has a liar beside who tells right.
func TestDescribeDespiteLiars(t *testing.T) {
	s := newTold(t)
	for name, liar := range liars() {
		t.Run(name, func(t *testing.T) {
			var lied atomic.Bool
			bad, came := startTeller(t, s, "127.0.0.2", func(c *client) {
				defer lied.Store(true)
				liar.do(c)
			})
			good, _ := startTeller(t, s, "127.0.0.1", func(c *client) {
				eventually(t, "the liar's turn", func() bool { return came.Load() > 0 })
				honest(c)
			})
			got, err := startServer(t).Describe(t.Context(), s.plainLink(bad, good))
			if err != nil || !bytes.Equal(got, s.torrent.Info) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestDescribeByLiarsAlone ends when it shall, with no dictionary, and no liar is asked
// twice who told what is wrong.
func TestDescribeByLiarsAlone(t *testing.T) {
	s := newTold(t)
	server := startServer(t)
	for name, liar := range liars() {
		t.Run(name, func(t *testing.T) {
			at, came := startTeller(t, s, "127.0.0.2", liar.do)
			ctx, cancel := context.WithCancel(t.Context())
			d := &description{turns: make(chan struct{}, maxTellers)}
			d.lobby = server.newLobby(ctx, proto.InfoHash(s.torrent.Hash), d)
			d.contacts.add([]netip.AddrPort{at})
			ended := make(chan error, 1)
			go func() { ended <- server.open(d.lobby) }()
			eventually(t, "a liar's end", func() bool {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.lobby.mu.Lock()
				defer d.lobby.mu.Unlock()
				return came.Load() > 0 && (!liar.banned || len(d.banned) == 1)
			})
			cancel()
			if err := <-ended; err != nil || d.info != nil {
				t.Errorf("%v, and %d bytes", err, len(d.info))
			}
			if d.lobby.mu.Lock(); len(d.here) != 0 || !liar.banned && len(d.banned) != 0 {
				t.Errorf("%d clients here, %d kept out", len(d.here), len(d.banned))
			}
			d.lobby.mu.Unlock()
			if came.Load() != 1 {
				t.Errorf("asked %d times", came.Load())
			}
		})
	}
}

// TestDescribeEnds ends with its context, and with the server.
func TestDescribeEnds(t *testing.T) {
	s := newSample(t, 1<<10)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	server := startServer(t)
	if info, err := server.Describe(ctx, s.plainLink()); info != nil || !errors.Is(err, why) {
		t.Errorf("%d bytes, %v", len(info), err)
	}
	other := serve(Config{Client: "mob test"}, mustListen(t))
	time.AfterFunc(10*time.Millisecond, func() { other.Close() })
	if info, err := other.Describe(t.Context(), s.plainLink()); info != nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%d bytes, %v", len(info), err)
	}
}

func mustListen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// FuzzTeller has a client that is asked for an info dictionary say anything.
func FuzzTeller(f *testing.F) {
	o := newOutbox()
	o.put(pp.Extended, []byte("\x00d1:md11:ut_metadatai3ee13:metadata_sizei20ee"))
	o.put(pp.HaveAll, nil)
	o.put(pp.Extended, append([]byte("\x01d8:msg_typei1e5:piecei0e10:total_sizei20ee"), make([]byte, 20)...))
	f.Add(o.take(nil))
	f.Fuzz(func(t *testing.T, said []byte) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			_, _ = there.Write(said)
		}()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		tl := newTeller(here)
		defer here.Close()
		if tl.hearIntroduction() != nil {
			return
		}
		if tl.size <= 0 || tl.size > proto.MaxTorrent {
			t.Fatalf("a dictionary of %d bytes", tl.size)
		}
		if info, err := tl.tell(); err == nil && len(info) != tl.size {
			t.Errorf("%d bytes of %d", len(info), tl.size)
		}
	})
}
