package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a host whose bulk sockets echo.
type node struct {
	host.Host
	endpoint *Endpoint
	accepted chan peer.ID // the peers of accepted sockets
}

func (n *node) addr() ma.Multiaddr { return n.Addrs()[0] }

func anyone(peer.ID) bool { return true }

func start(t testing.TB) *node {
	t.Helper()
	key := newKey(t)
	endpoint, err := NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{h, endpoint, make(chan peer.ID, 1000)}
	endpoint.Handle(anyone, func(from peer.ID, c *Conn) {
		n.accepted <- from
		_, _ = io.Copy(c, c)
	})
	t.Cleanup(func() {
		endpoint.Close()
		h.Close()
	})
	return n
}

// waitTimeout bounds each wait of a test. It only ends hangs: a busy machine may take long.
const waitTimeout = 3 * time.Minute

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	t.Cleanup(cancel)
	return ctx
}

// mustConnect opens a bulk socket and a libp2p connection from a new node.
func mustConnect(t *testing.T, to *node) {
	t.Helper()
	n := start(t)
	c, err := n.endpoint.Dial(within(t), to.ID(), to.addr())
	if err != nil {
		t.Fatal("socket: ", err)
	}
	defer c.Reset()
	if from := <-to.accepted; from != n.ID() {
		t.Errorf("accepted a socket of %s, want %s", from, n.ID())
	}
	_ = c.SetReadDeadline(time.Now().Add(waitTimeout))
	sent, echo := make([]byte, 1<<20), make([]byte, 1<<20)
	_, _ = rand.Read(sent)
	go func() { _, _ = c.Write(sent) }()
	if _, err := io.ReadFull(c, echo); err != nil || !bytes.Equal(sent, echo) {
		t.Errorf("the echo differs: %v", err)
	}
	if err := n.Connect(within(t), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Error("libp2p: ", err)
	}
}

func TestSocketsAndLibp2pShareOnePort(t *testing.T) { mustConnect(t, start(t)) }

func TestDialFailsIfAnotherPeerAnswers(t *testing.T) {
	a, b, c := start(t), start(t), start(t)
	var wrong sec.ErrPeerIDMismatch
	_, err := a.endpoint.Dial(within(t), b.ID(), c.addr())
	if !errors.As(err, &wrong) || wrong.Actual != c.ID() {
		t.Errorf("Dial: %v, want a peer id mismatch", err)
	}
	select {
	case from := <-c.accepted:
		t.Errorf("accepted a socket of %s", from)
	case <-time.After(100 * time.Millisecond):
	}
}

// An unknown peer gets through the handshake, which proves its id, and no further.
func TestUnknownPeersAreClosed(t *testing.T) {
	a, b := start(t), start(t)
	known := func(id peer.ID) bool { return id != a.ID() }
	b.endpoint.Handle(known, func(peer.ID, *Conn) { t.Error("accepted an unknown peer") })
	c, err := a.endpoint.Dial(within(t), b.ID(), b.addr())
	if err != nil {
		return
	}
	defer c.Reset()
	_ = c.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading as an unknown peer: %v, want a closed socket", err)
	}
}

func TestOtherTLSIsClosed(t *testing.T) {
	a, b := start(t), start(t)
	with, _ := a.endpoint.identity.ConfigForPeer(b.ID())
	for name, config := range map[string]*tls.Config{
		"no certificate": {InsecureSkipVerify: true, NextProtos: []string{alpn}},
		"TLS 1.2":        {InsecureSkipVerify: true, NextProtos: []string{alpn}, MaxVersion: tls.VersionTLS12},
		"no ALPN":        {InsecureSkipVerify: true, Certificates: with.Certificates},
		"other ALPN":     {InsecureSkipVerify: true, Certificates: with.Certificates, NextProtos: []string{"h2"}},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := manet.Dial(b.addr())
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			c := tls.Client(raw, config)
			_ = c.SetDeadline(time.Now().Add(waitTimeout))
			if c.Handshake() == nil {
				if _, err = c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("reading: %v, want a closed connection", err)
				}
			}
		})
	}
	mustConnect(t, b)
}

// Scanners, broken peers and attackers send anything first.
func TestInvalidFirstBytes(t *testing.T) {
	n := start(t)
	for _, first := range []string{
		"", "\x16", "\x16\x03", "\x16\x03\x01", "\x16\x03\x01\xff\xff", "\x16\x03\x01\x00\x05hello",
		"\x13", "\x13/m", "\x13BitTorrent protocol", "GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x00",
		string(make([]byte, 70000)),
	} {
		for _, stay := range []bool{false, true} {
			c, err := manet.Dial(n.addr())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, first)
			if stay {
				defer c.Close()
			} else {
				c.Close()
			}
		}
	}
	for range 200 {
		c, err := manet.Dial(n.addr())
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, 64)
		_, _ = rand.Read(junk)
		_, _ = c.Write(junk)
		defer c.Close()
	}
	mustConnect(t, n)
}

// The first bytes may come one by one.
func TestSlowHandshake(t *testing.T) {
	n, other := start(t), start(t)
	raw, err := manet.Dial(n.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	config, _ := other.endpoint.config(n.ID())
	c := tls.Client(&slowConn{Conn: raw, left: 20}, config)
	if err := c.HandshakeContext(within(t)); err != nil {
		t.Fatal(err)
	}
	if id := <-n.accepted; id != other.ID() {
		t.Errorf("accepted a socket of %s, want %s", id, other.ID())
	}
}

// slowConn writes its first bytes one at a time.
type slowConn struct {
	net.Conn
	left int
}

func (d *slowConn) Write(p []byte) (n int, err error) {
	for ; d.left > 0 && n < len(p) && err == nil; d.left-- {
		var k int
		k, err = d.Conn.Write(p[n : n+1])
		n += k
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		return n, err
	}
	k, err := d.Conn.Write(p[n:])
	return n + k, err
}

// The resource manager counts sockets until they are closed.
func TestResourceManagerCountsSockets(t *testing.T) {
	a, b := start(t), start(t)
	count := func(n *node) (all int) {
		_ = n.Network().ResourceManager().ViewSystem(func(s network.ResourceScope) error {
			all = s.Stat().NumFD
			return nil
		})
		return all
	}
	c, err := a.endpoint.Dial(within(t), b.ID(), b.addr())
	if err != nil {
		t.Fatal(err)
	}
	<-b.accepted
	if count(a) != 1 || count(b) != 1 {
		t.Errorf("%d and %d descriptors, want 1 and 1", count(a), count(b))
	}
	_ = c.Reset()
	for deadline := time.Now().Add(waitTimeout); count(a)+count(b) > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if count(a) != 0 || count(b) != 0 {
		t.Errorf("%d and %d descriptors after the end, want none", count(a), count(b))
	}
}
