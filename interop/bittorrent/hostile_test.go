package bittorrent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// TestInvalidHandshakes closes connections without a valid handshake of a known torrent,
// and serves other clients.
func TestInvalidHandshakes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	other := basic.handshake(s, 1)
	other.hash[0]++
	for name, sent := range map[string]string{
		"empty":           "",
		"HTTP":            "GET / HTTP/1.1\r\nHost: a\r\n\r\n" + strings.Repeat("x", 100),
		"another torrent": string(other.append(nil)),
		"truncated":       pp.Protocol + "12345678",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", n.server.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, sent)
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
			if b, err := io.ReadAll(conn); len(b) > 0 {
				t.Errorf("received %q, %v", b, err)
			} else if e, ok := err.(net.Error); ok && e.Timeout() {
				t.Error("the connection stays open")
			}
		})
	}
	connect(t, n, s, modern, 1).download()
}

// TestProtocolViolations closes the connections of clients that violate the protocol, and
// serves other clients.
func TestProtocolViolations(t *testing.T) {
	t.Parallel()
	s := newSample(t, 4*proto.MinPieceLength)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	huge := func(kind pp.MessageType) func(*client) {
		return func(c *client) { c.sendRaw(append([]byte{0x7f, 0xff, 0xff, 0xff}, byte(kind))...) }
	}
	id := byte(0)
	for name, do := range map[string]func(c *client){
		"huge piece":                    huge(pp.Piece),
		"huge bitfield":                 huge(pp.Bitfield),
		"huge extended":                 huge(pp.Extended),
		"huge have":                     huge(pp.Have),
		"huge unknown":                  huge(99),
		"short have":                    func(c *client) { c.sendRaw(0, 0, 0, 2, 4, 0) },
		"short piece":                   func(c *client) { c.sendRaw(0, 0, 0, 2, 7, 0) },
		"have beyond the end":           func(c *client) { c.send(pp.Have, nil, 4) },
		"have of the last number":       func(c *client) { c.send(pp.Have, nil, 1<<32-1) },
		"bitfield too long":             func(c *client) { c.send(pp.Bitfield, make([]byte, 2)) },
		"request beyond the last piece": func(c *client) { c.send(pp.Request, nil, 4, 0, chunk) },
		"request beyond the piece":      func(c *client) { c.send(pp.Request, nil, 0, proto.MinPieceLength-1, 2) },
		"request that overflows":        func(c *client) { c.send(pp.Request, nil, 0, 1<<32-1, chunk) },
		"empty request":                 func(c *client) { c.send(pp.Request, nil, 0, 0, 0) },
		"request too long":              func(c *client) { c.send(pp.Request, nil, 0, 0, maxRequest+1) },
		"empty extended message":        func(c *client) { c.send(pp.Extended, nil) },
		"broken extended handshake":     func(c *client) { c.send(pp.Extended, []byte("\x00d1:m")) },
		"deep extended handshake": func(c *client) {
			c.send(pp.Extended, []byte("\x00"+strings.Repeat("l", maxExtended-10)))
		},
		"broken metadata message": func(c *client) { c.send(pp.Extended, []byte("\x01xx")) },
		"a mob node":              func(c *client) { c.sendHandshake(extendedHandshake{Mob: "12D3"}) },
		"chunks without a request": func(c *client) {
			for range 2 * maxUnrequested {
				c.sendPiece(proto.Span{}, make([]byte, chunk))
			}
		},
		"not reading": func(c *client) {
			for range 2 * (maxUnsent + 64<<20) / (256 << 10) {
				for at := range 16 {
					c.send(pp.Request, nil, 0, uint32(at*chunk), chunk)
				}
				_ = c.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			}
			c.conn.Close()
		},
	} {
		id++ // the one before may not have left yet
		t.Run(name, func(t *testing.T) {
			c := connect(t, n, s, modern, id)
			c.expect(pp.Unchoke)
			do(c)
			c.expectClosed()
		})
	}
	connect(t, n, s, modern, id+1).download()
}

// TestPiecesAnnouncedAgain checks that a client that has all pieces causes no work for each of them when it announces them again.
func TestPiecesAnnouncedAgain(t *testing.T) {
	t.Parallel()
	s := newSample(t, 8*proto.MinPieceLength)
	n := startNode(t, "A", s.torrent(), 0)
	tr, _ := n.get(t, s)
	sw := newSwarm(t.Context(), n.server, tr, s.torrent())
	var c *peerConn
	eventually(t, "the transfer takes clients", func() (ok bool) {
		var err error
		c, err = sw.newPeerConn(&remotePeer{handshake: *modern.handshake(s, 1)})
		return err == nil
	})
	defer c.cancel(nil)
	looks := 0
	for range 3 {
		c.onPieces(func(int) bool { looks++; return true })
	}
	if looks != c.attachment.Pieces() {
		t.Errorf("%d looks at %d pieces", looks, c.attachment.Pieces())
	}
}

// TestBeforeExtendedHandshake checks that a client counts before its extended handshake, and that messages do not extend
// the time for that.
func TestBeforeExtendedHandshake(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	sw := newSwarm(t.Context(), n.server, n.seed(t, s), s.torrent())
	local, remote := net.Pipe()
	defer remote.Close()
	conn := &deadlineConn{local, make(chan time.Time, 10)}
	go func() { _ = sw.runConn(&remotePeer{Conn: conn, handshake: *modern.handshake(s, 1)}) }()
	c := &client{t: t, conn: remote, s: s}
	c.expect(pp.Unchoke)
	sw.mu.Lock()
	if len(sw.conns) != 1 {
		t.Errorf("%d connections", len(sw.conns))
	}
	sw.mu.Unlock()
	first := <-conn.deadlines
	for range 3 {
		c.sendRaw(0, 0, 0, 0)
		if next := <-conn.deadlines; !next.Equal(first) {
			t.Errorf("the deadline is %v after a message, want %v", next, first)
		}
	}
}

// TestMetadataIsNotQueued checks that a client's requests of the info dictionary do not take memory, and that the limit of the upload
// applies to the replies.
func TestMetadataIsNotQueued(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	torrent := s.torrent()
	torrent.Info = func() []byte { return make([]byte, 64*chunk) }
	sw := newSwarm(t.Context(), n.server, n.seed(t, s), torrent)
	local, remote := net.Pipe()
	defer local.Close()
	c, err := sw.newPeerConn(&remotePeer{Conn: local, handshake: *modern.handshake(s, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.cancel(nil)
	received := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, remote)
		received <- n
	}()
	if err := c.onExtended(metadataHandshake(0).encode()); err != nil {
		t.Fatal(err)
	}
	defer c.attachment.Leave(io.EOF)
	const requests = 100
	sent := n.server.limiter.Passed()
	n.server.limiter.SetRate(1 << 40)
	for range requests {
		request := pp.ExtendedMetadataRequestMsg{Type: pp.RequestMetadataExtensionMsgType, Piece: 1}
		if err := c.onExtended(encodeMetadata(ownMetadataID, request, nil)); err != nil {
			t.Fatal(err)
		}
	}
	c.out.mu.Lock()
	if queued := len(c.out.buf); queued > chunk {
		t.Errorf("%d bytes are queued for a client that requests", queued)
	}
	c.out.mu.Unlock()
	local.Close()
	if n := <-received; n < requests*chunk {
		t.Errorf("%d bytes were written", n)
	}
	if passed := n.server.limiter.Passed() - sent; passed != requests*chunk {
		t.Errorf("%d bytes count for the limit of the upload", passed)
	}
}

// deadlineConn sends its deadlines for reads to a channel.
type deadlineConn struct {
	net.Conn
	deadlines chan time.Time
}

func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.deadlines <- t
	return c.Conn.SetReadDeadline(t)
}

// TestConnectionsOfOneAddress takes as many connections as one address can get, with a handshake and without. A client at
// another address connects.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("cannot listen: ", err) // a machine may have no IPv6
	}
	l.Close()
	s := newSample(t, 1<<20)
	n := startNodeAt(t, "[::]:0", "A", s.torrent(), 0)
	n.seed(t, s)
	for i := range maxConns / 2 {
		connect(t, n, s, basic, byte(i)).expect(pp.Unchoke)
	}
	rejected, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer rejected.Close()
	_ = rejected.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := exchangeHandshakes(rejected, *basic.handshake(s, 255)); err == nil { // the end may come before it
		(&client{t: t, conn: rejected, s: s}).expectClosed()
	}
	for range maxHandshakes {
		silent, err := net.Dial("tcp", n.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", n.server.Addr().(*net.TCPAddr).Port)) // the other clients come from ::1
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := exchangeHandshakes(conn, *basic.handshake(s, 254)); err != nil {
		t.Fatal(err)
	}
	(&client{t: t, conn: conn, s: s}).download()
}

// TestClientsOfAllTorrents takes as many connections to many torrents as one address can get. Clients at another address connect.
func TestClientsOfAllTorrents(t *testing.T) {
	t.Parallel()
	n := startNode(t, "A", nil, 0)
	open := func(addr string) (all []func()) {
		for i := range 2 * maxClients / maxConns {
			m := n.server.newConnManager(t.Context(), proto.InfoHash{byte(i)}, handler{}, n.server.cfg.Log)
			for k := range maxConns {
				p := &remotePeer{addr: netip.MustParseAddrPort(addr), handshake: handshake{peerID: [20]byte{byte(k)}}}
				if m.add(p) == nil {
					all = append(all, func() { m.remove(p) })
				}
			}
		}
		return all
	}
	hostile := open("198.51.100.1:1")
	if len(hostile) != maxClients/2 {
		t.Errorf("one address has %d connections, want %d", len(hostile), maxClients/2)
	}
	if honest := open("198.51.100.2:1"); len(honest) < maxConns {
		t.Errorf("another address has %d connections", len(honest))
	}
	for _, remove := range hostile {
		remove()
	}
	if used := n.server.clients.Used(); used >= maxClients/2 {
		t.Errorf("%d connections count after the end of %d", used, len(hostile))
	}
}

// TestAddressesOfOneTracker adds more addresses from a tracker than a torrent may have. Addresses from another one are dialed.
func TestAddressesOfOneTracker(t *testing.T) {
	t.Parallel()
	addrs := func(c byte, n int) (all []netip.AddrPort) {
		for i := range n {
			all = append(all, netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, c}), uint16(i+1)))
		}
		return all
	}
	l, now := newAddrList(), time.Now()
	l.add("hostile", addrs(1, 2*maxAddrs))
	honest := addrs(2, 10)
	l.add("honest", honest)
	for {
		a, _, ok := l.next(now)
		if !ok {
			break
		}
		honest = slices.DeleteFunc(honest, func(b netip.AddrPort) bool { return a == b })
	}
	if len(honest) > 0 || len(l.m) > maxAddrs {
		t.Errorf("%d of 10 addresses are not dialed, and there are %d", len(honest), len(l.m))
	}
	for range 20 {
		l.release(addrs(1, 1)[0], now, 0, io.EOF)
	}
	if l.m[addrs(1, 1)[0]] != nil || l.shares.Used() != len(l.m) {
		t.Error("a dropped address takes room")
	}
}

// TestLostPieceIsOfInterest checks that a node is interested in a client again once it loses a piece that the client has. Clients send
// pieces to interested peers only.
func TestLostPieceIsOfInterest(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	sw := newSwarm(t.Context(), n.server, n.seed(t, s), s.torrent())
	c, err := sw.newPeerConn(&remotePeer{handshake: *modern.handshake(s, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.cancel(nil)
	if err := c.onHave(1); err != nil || !c.state.interested {
		t.Fatalf("the node is not interested in a piece: %v", err)
	}
	piece := []proto.Range{{First: 1, Count: 1}}
	if c.Receive(&proto.Have{Have: piece}); c.state.interested {
		t.Error("the node is interested in a piece that it has")
	}
	if c.Receive(&proto.Have{Drop: piece}); !c.state.interested {
		t.Error("the node is not interested in a piece that it lost")
	}
}

// TestCloseAfterHandshake checks a client that closes the connection before the first message: no
// context of it is left in the swarm.
func TestCloseAfterHandshake(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	sw := newSwarm(t.Context(), n.server, n.seed(t, s), s.torrent())
	local, remote := net.Pipe()
	remote.Close()
	c, err := sw.newPeerConn(&remotePeer{Conn: local, handshake: *modern.handshake(s, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.run(); err == nil || c.ctx.Err() == nil {
		t.Errorf("ended with %v, and the context with %v", err, c.ctx.Err())
	}
}

// TestDuplicateConnection checks a client that connects again: the first connection stays.
func TestDuplicateConnection(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	first := connect(t, n, s, modern, 1)
	first.download()
	again, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	_ = again.SetDeadline(time.Now().Add(2 * time.Minute))
	// The end may come before the handshake has been read.
	if _, err = exchangeHandshakes(again, *modern.handshake(s, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	} else if err == nil {
		c := &client{t: t, conn: again, s: s}
		c.sendHandshake(metadataHandshake(0)) // without it the node would wait for that
		c.expectClosed()
	}
	first.download()
}

// TestCorruptPieces checks a seed that sends corrupt blocks: it is banned, and the whole content
// comes from another.
func TestCorruptPieces(t *testing.T) {
	t.Parallel()
	s := newSample(t, 4<<20)
	accepted := make(chan struct{})
	accept := sync.OnceFunc(func() { close(accepted) })
	corrupt := startSeed(t, s, 1, func(c *client) {
		<-accepted
		c.sendAll()
		for {
			m, err := c.receive()
			if err != nil {
				return
			}
			if m.kind == pp.Request {
				sp := spanOf(m.payload)
				c.sendPiece(sp, make([]byte, sp.Length))
			}
		}
	})
	banned := make(chan struct{})
	honest := startSeed(t, s, 2, func(c *client) {
		if _, err := c.receive(); err == nil { // later, the node would not accept the address, which both seeds have
			accept()
		}
		<-banned
		c.sendAll()
		c.serve(nil)
	})
	torrent := s.torrent()
	for _, l := range []*net.TCPListener{corrupt, honest} {
		torrent.Peers = append(torrent.Peers, l.Addr().(*net.TCPAddr).AddrPort())
	}
	n := startNode(t, "A", torrent, 0)
	tr, out := n.get(t, s)
	manager := func() *connManager {
		n.server.mu.Lock()
		defer n.server.mu.Unlock()
		return n.server.managers[torrent.Hash]
	}
	eventually(t, "the ban", func() bool {
		m := manager()
		if m == nil {
			return false
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.banned) > 0
	})
	m := manager()
	m.mu.Lock()
	clear(m.banned) // both seeds have the same address
	m.mu.Unlock()
	close(banned)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
}

// FuzzRead runs a connection to a client that sends arbitrary bytes.
func FuzzRead(f *testing.F) {
	s := newSample(f, 1<<20)
	n := startNode(f, "A", s.torrent(), 0)
	tr := n.seed(f, s)
	b := appendMessage(nil, pp.Request, nil, 0, 0, chunk)
	b = appendMessage(b, pp.Have, nil, 3)
	b = appendMessage(b, pp.Extended, []byte("\x00d1:md11:ut_metadatai3ee1:v1:xe"))
	b = appendMessage(b, pp.Extended, []byte("\x01d8:msg_typei0e5:piecei0ee"))
	f.Add(b, true)
	b = appendMessage(nil, pp.Bitfield, []byte{0xf0})
	b = appendMessage(b, pp.Unchoke, nil)
	b = appendMessage(b, pp.Piece, make([]byte, 100), 1, 2)
	b = appendMessage(b, pp.Choke, nil)
	f.Add(b, false)
	f.Fuzz(func(t *testing.T, b []byte, fast bool) {
		kind := basic
		if fast {
			kind = modern
		}
		sw := newSwarm(t.Context(), n.server, tr, s.torrent())
		local, remote := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- sw.runConn(&remotePeer{Conn: local, handshake: *kind.handshake(s, 1)}) }()
		go func() { _, _ = io.Copy(io.Discard, remote) }()
		for len(b) > 0 {
			k := min(len(b), 1+int(b[0]))
			if _, err := remote.Write(b[:k]); err != nil {
				break
			}
			b = b[k:]
		}
		remote.Close()
		if err := <-done; err == nil {
			t.Error("the connection ended without an error")
		}
		if len(sw.conns) != 0 {
			t.Error("the connection is not removed")
		}
	})
}

// FuzzHandshake decodes a handshake and encodes it again.
func FuzzHandshake(f *testing.F) {
	s := newSample(f, 1<<10)
	f.Add(basic.handshake(s, 1).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h handshake
		r := bytes.NewReader(b)
		if h.readUpToHash(r) != nil || h.readPeerID(r) != nil {
			return
		}
		if got := h.append(nil); !bytes.Equal(got, b[:len(got)]) {
			t.Errorf("%q became %q", b, got)
		}
	})
}
