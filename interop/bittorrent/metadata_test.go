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
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// metadataClients is the number of clients that startMetadataClient has started.
var metadataClients atomic.Uint32

// startMetadataClient starts a scripted client that listens at a loopback address. Each
// connection runs do; conns counts them.
func startMetadataClient(
	t *testing.T, s *sample, ip string, do func(c *client),
) (addr netip.AddrPort, conns *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	addr, conns = l.Addr().(*net.TCPAddr).AddrPort(), new(atomic.Int32)
	id := byte(metadataClients.Add(1)) // two clients of a test with one id would be the same to the node
	go serveConns(t, l, modern.handshake(s, id), s, func(c *client) {
		conns.Add(1)
		do(c)
	})
	return addr, conns
}

// serveMetadata replies to every metadata request with the result of reply, until the
// connection ends.
func (c *client) serveMetadata(reply func(piece int) (pp.ExtendedMetadataRequestMsg, []byte)) {
	for {
		m, err := c.receive()
		if err != nil {
			return
		}
		if m.kind != pp.Extended || len(m.payload) == 0 || m.payload[0] != clientMetadataID {
			continue
		}
		request, _, err := decodeMetadata(m.payload[1:])
		if err != nil || request.Type != pp.RequestMetadataExtensionMsgType {
			continue
		}
		header, piece := reply(request.Piece)
		c.send(pp.Extended, encodeMetadata(ownMetadataID, header, piece))
	}
}

// pieceOf is the reply with a piece of an info dictionary.
func pieceOf(info []byte, piece int) (pp.ExtendedMetadataRequestMsg, []byte) {
	m := pp.ExtendedMetadataRequestMsg{Type: pp.DataMetadataExtensionMsgType, Piece: piece, TotalSize: len(info)}
	return m, info[piece*chunk : min(len(info), (piece+1)*chunk)]
}

// honest serves the info dictionary, after the messages that clients send first.
func honest(c *client) {
	c.send(pp.HaveAll, nil)
	c.sendHandshake(metadataHandshake(len(c.s.meta.Info)))
	c.send(pp.Unchoke, nil)
	c.serveMetadata(func(piece int) (pp.ExtendedMetadataRequestMsg, []byte) { return pieceOf(c.s.meta.Info, piece) })
}

func startServer(t testing.TB) *Server {
	t.Helper()
	s, err := Listen(Config{Listen: "127.0.0.1:0", Client: "mob test", Dial: new(net.Dialer).DialContext})
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
	return &proto.Link{InfoHash: proto.InfoHash(s.meta.Hash), TorrentPeers: peers}
}

// newMetadataSample is a sample with random bytes as info dictionary, of more pieces than
// the pipeline.
func newMetadataSample(t testing.TB) *sample {
	t.Helper()
	s := newSample(t, 1<<20)
	s.meta.Info = make([]byte, (metadataPipeline+1)*chunk+1)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(s.meta.Info) // never fails
	s.meta.Hash = sha1.Sum(s.meta.Info)
	return s
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	addr, conns := startMetadataClient(t, s, "127.0.0.1", honest)
	got, err := startServer(t).Describe(t.Context(), s.plainLink(addr))
	if err != nil || !bytes.Equal(got, s.meta.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections to the client", conns.Load())
	}
}

// TestDescribeIncoming checks a client that connects to the node.
func TestDescribeIncoming(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	server := startServer(t)
	go func() {
		for t.Context().Err() == nil {
			conn, err := net.Dial("tcp", server.Addr().String())
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			if _, err := exchangeHandshakes(conn, *modern.handshake(s, 1)); err == nil { // rejected before Describe
				honest(&client{t: t, conn: conn, s: s})
			}
			conn.Close()
		}
	}()
	if got, err := server.Describe(t.Context(), s.plainLink()); err != nil || !bytes.Equal(got, s.meta.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// TestDescribeTwice checks that a search for an info dictionary waits for the end of another one with the same info-hash.
func TestDescribeTwice(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	addr, _ := startMetadataClient(t, s, "127.0.0.1", honest)
	server := startServer(t)
	ctx, end := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := server.Describe(ctx, s.plainLink()) // no client
		first <- err
	}()
	eventually(t, "the first search", func() bool { return server.manager(s.meta.Hash) != nil })
	time.AfterFunc(10*time.Millisecond, end)
	if got, err := server.Describe(t.Context(), s.plainLink(addr)); err != nil || !bytes.Equal(got, s.meta.Info) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first search ended with %v", err)
	}
}

// TestDescribeByNode downloads from another node.
func TestDescribeByNode(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	addr := n.server.Addr().(*net.TCPAddr).AddrPort()
	got, err := startServer(t).Describe(t.Context(), s.plainLink(addr))
	if err != nil || !bytes.Equal(got, s.meta.Info) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// badClient is a client that sends an invalid info dictionary, or none.
type badClient struct {
	do     func(c *client)
	banned bool // its address is banned
}

func badClients() map[string]badClient {
	// serve serves an info dictionary of length size(n), where n is the right one.
	serve := func(
		size func(n int) int, reply func(info []byte, piece int) (pp.ExtendedMetadataRequestMsg, []byte),
	) func(*client) {
		return func(c *client) {
			info := bytes.Clone(c.s.meta.Info)
			info = info[:min(len(info), size(len(info)))]
			info = append(info, make([]byte, max(0, size(len(info))-len(info)))...)
			c.sendHandshake(metadataHandshake(len(info)))
			c.serveMetadata(func(piece int) (pp.ExtendedMetadataRequestMsg, []byte) { return reply(info, piece) })
		}
	}
	zeros := func(size int) func(*client) {
		return func(c *client) {
			c.sendHandshake(metadataHandshake(size))
			c.serveMetadata(func(piece int) (pp.ExtendedMetadataRequestMsg, []byte) {
				m := pp.ExtendedMetadataRequestMsg{Type: pp.DataMetadataExtensionMsgType, Piece: piece, TotalSize: size}
				return m, make([]byte, chunk)
			})
		}
	}
	change := func(f func(m *pp.ExtendedMetadataRequestMsg, piece *[]byte)) func(*client) {
		same := func(n int) int { return n }
		return serve(same, func(info []byte, piece int) (pp.ExtendedMetadataRequestMsg, []byte) {
			m, b := pieceOf(info, piece)
			f(&m, &b)
			return m, b
		})
	}
	type message = pp.ExtendedMetadataRequestMsg
	return map[string]badClient{
		"too long":         {serve(func(n int) int { return n + 1 }, pieceOf), true},
		"too short":        {serve(func(n int) int { return n - 1 }, pieceOf), true},
		"100 MB":           {zeros(100 << 20), true},
		"negative size":    {zeros(-1), true},
		"zeros":            {change(func(_ *message, b *[]byte) { *b = make([]byte, len(*b)) }), true},
		"short piece":      {change(func(_ *message, b *[]byte) { *b = (*b)[1:] }), true},
		"long piece":       {change(func(_ *message, b *[]byte) { *b = append(bytes.Clone(*b), 0) }), true},
		"one piece":        {change(func(m *message, _ *[]byte) { m.Piece = 0 }), true},
		"unrequested":      {change(func(m *message, _ *[]byte) { m.Piece = 1 << 30 }), true},
		"negative piece":   {change(func(m *message, _ *[]byte) { m.Piece = -1 }), true},
		"wrong total size": {change(func(m *message, _ *[]byte) { m.TotalSize++ }), true},
		"rejects": {change(func(m *message, b *[]byte) {
			m.Type, *b = pp.RejectMetadataExtensionMsgType, nil
		}), false},
		"no metadata": {func(c *client) { c.sendHandshake(extendedHandshake{}) }, false},
		"huge message": {func(c *client) {
			c.sendHandshake(metadataHandshake(100))
			c.sendRaw(0x7f, 0xff, 0xff, 0xff, 5)
			c.expectClosed()
		}, true},
		"huge extended message": {func(c *client) {
			c.sendHandshake(metadataHandshake(100))
			c.sendRaw(0x7f, 0xff, 0xff, 0xff, byte(pp.Extended))
			c.expectClosed()
		}, true},
		"broken handshake": {func(c *client) { c.send(pp.Extended, []byte("\x00d1:m")) }, true},
		"silent":           {func(c *client) { _, _ = c.conn.Read(make([]byte, 1)); c.expectClosed() }, false},
		"silent after the handshake": {func(c *client) {
			c.sendHandshake(metadataHandshake(len(c.s.meta.Info)))
			c.expectClosed()
		}, false},
	}
}

// TestDescribeDespiteBadClients checks a malicious client beside an honest one.
func TestDescribeDespiteBadClients(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	for name, bad := range badClients() {
		t.Run(name, func(t *testing.T) {
			badAddr, conns := startMetadataClient(t, s, "127.0.0.2", bad.do)
			goodAddr, _ := startMetadataClient(t, s, "127.0.0.1", func(c *client) {
				eventually(t, "a connection to the bad client", func() bool { return conns.Load() > 0 })
				honest(c)
			})
			got, err := startServer(t).Describe(t.Context(), s.plainLink(badAddr, goodAddr))
			if err != nil || !bytes.Equal(got, s.meta.Info) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestDescribeByBadClients checks malicious clients only: there is no dictionary when the context
// ends, and one connection to each that is banned.
func TestDescribeByBadClients(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	server := startServer(t)
	for name, bad := range badClients() {
		t.Run(name, func(t *testing.T) {
			addr, conns := startMetadataClient(t, s, "127.0.0.2", bad.do)
			ctx, cancel := context.WithCancel(t.Context())
			f := server.newMetadataFetcher(ctx, proto.InfoHash(s.meta.Hash))
			f.addrs.add("", []netip.AddrPort{addr})
			var run sync.WaitGroup
			run.Go(func() { server.run(f.connManager) })
			eventually(t, "the end of the bad client", func() bool {
				f.connManager.mu.Lock()
				defer f.connManager.mu.Unlock()
				return conns.Load() > 0 && (!bad.banned || len(f.banned) == 1)
			})
			cancel()
			run.Wait()
			if f.info != nil {
				t.Errorf("%d bytes", len(f.info))
			}
			if len(f.conns) != 0 || !bad.banned && len(f.banned) != 0 {
				t.Errorf("%d clients connected, %d banned", len(f.conns), len(f.banned))
			}
			if bad.banned && conns.Load() != 1 { // any other client is dialed again after minBackoff
				t.Errorf("%d connections", conns.Load())
			}
		})
	}
}

// TestSlowMetadata checks a client that sends a piece every 9 seconds of an info dictionary that
// would take hours, and other messages in between.
func TestSlowMetadata(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		local, remote := net.Pipe()
		var wg sync.WaitGroup
		defer wg.Wait()
		defer local.Close()
		wg.Go(func() { _, _ = io.Copy(io.Discard, remote) })
		wg.Go(func() {
			const size = proto.MaxTorrent
			b := appendMessage(nil, pp.Extended, metadataHandshake(size).encode())
			for n := 0; ; n++ {
				if _, err := remote.Write(b); err != nil {
					return
				}
				time.Sleep(time.Second)
				payload := []byte{99}
				if n%9 == 8 {
					m := pp.ExtendedMetadataRequestMsg{Type: pp.DataMetadataExtensionMsgType, Piece: n / 9}
					payload = encodeMetadata(ownMetadataID, m, make([]byte, chunk))
				}
				b = appendMessage(nil, pp.Extended, payload)
			}
		})
		c := newMetadataConn(local)
		if err := c.receiveHandshake(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := c.download(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if d := time.Since(start); d < metadataGrace || d > metadataGrace+10*time.Second {
			t.Errorf("the download ended after %v", d)
		}
	})
}

// portOnly is a listener that has an address only.
type portOnly struct{ net.Listener }

func (portOnly) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowMetadataGivesWay checks clients that send a huge info dictionary as slowly as they may, in all slots, while another
// client waits for one.
func TestSlowMetadataGivesWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		f := &metadataFetcher{slots: make(chan struct{}, maxMetadataConns)}
		f.connManager = &connManager{server: &Server{listener: portOnly{}}, ctx: ctx}
		var wg sync.WaitGroup
		fetch := func(pieces int, every time.Duration) <-chan error {
			local, remote := net.Pipe()
			context.AfterFunc(ctx, func() { _ = local.Close() })
			wg.Go(func() { _, _ = io.Copy(io.Discard, remote) })
			wg.Go(func() {
				b := appendMessage(nil, pp.Extended, metadataHandshake(pieces*chunk).encode())
				for n := 0; ; n++ {
					if _, err := remote.Write(b); err != nil {
						return
					}
					time.Sleep(every)
					m := pp.ExtendedMetadataRequestMsg{Type: pp.DataMetadataExtensionMsgType, Piece: n}
					b = appendMessage(nil, pp.Extended, encodeMetadata(ownMetadataID, m, make([]byte, chunk)))
				}
			})
			ended := make(chan error, 1)
			wg.Go(func() {
				_, err := f.fetch(newMetadataConn(local), netip.AddrPort{})
				_ = local.Close()
				ended <- err
			})
			return ended
		}
		for range maxMetadataConns {
			fetch(proto.MaxTorrent/chunk, metadataPieceTime)
		}
		time.Sleep(metadataGrace)
		start := time.Now()
		if err := <-fetch(10, metadataPieceTime/2); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d > 2*slotWait {
			t.Errorf("after %v", d)
		}
		end()
		wg.Wait()
	})
}

// TestDescribeEnds ends the context, and the server.
func TestDescribeEnds(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<10)
	cause := errors.New("canceled by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	server := startServer(t)
	if info, err := server.Describe(ctx, s.plainLink()); info != nil || !errors.Is(err, cause) {
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

// FuzzMetadata downloads an info dictionary from a client that sends arbitrary bytes.
func FuzzMetadata(f *testing.F) {
	b := appendMessage(nil, pp.Extended, []byte("\x00d1:md11:ut_metadatai3ee13:metadata_sizei20ee"))
	b = appendMessage(b, pp.HaveAll, nil)
	b = appendMessage(b, pp.Extended,
		append([]byte("\x01d8:msg_typei1e5:piecei0e10:total_sizei20ee"), make([]byte, 20)...))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		local, remote := net.Pipe()
		go func() {
			defer remote.Close()
			_, _ = remote.Write(b)
		}()
		go func() { _, _ = io.Copy(io.Discard, remote) }()
		c := newMetadataConn(local)
		defer local.Close()
		if c.receiveHandshake() != nil {
			return
		}
		if c.size <= 0 || c.size > proto.MaxTorrent {
			t.Fatalf("an info dictionary of %d bytes", c.size)
		}
		if info, err := c.download(); err == nil && len(info) != c.size {
			t.Errorf("%d bytes of %d", len(info), c.size)
		}
	})
}
