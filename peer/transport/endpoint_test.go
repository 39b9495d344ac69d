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

// node is a host with its endpoint, which echoes.
type node struct {
	host.Host
	end  *Endpoint
	from chan peer.ID // who opened sockets
}

func (n *node) at() ma.Multiaddr { return n.Addrs()[0] }

func anyone(peer.ID) bool { return true }

func start(t testing.TB) *node {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	end, err := NewEndpoint(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, end)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{h, end, make(chan peer.ID, 1000)}
	end.Handle(anyone, func(from peer.ID, c *Conn) {
		n.from <- from
		_, _ = io.Copy(c, c)
	})
	t.Cleanup(func() {
		end.Close()
		h.Close()
	})
	return n
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// mustWork opens a socket and a libp2p connection from a new node.
func mustWork(t *testing.T, to *node) {
	t.Helper()
	n := start(t)
	c, err := n.end.Dial(within(t, 10*time.Second), to.ID(), to.at())
	if err != nil {
		t.Fatal("socket: ", err)
	}
	defer c.Reset()
	if from := <-to.from; from != n.ID() {
		t.Errorf("%s came, want %s", from, n.ID())
	}
	said, heard := make([]byte, 1<<20), make([]byte, 1<<20)
	_, _ = rand.Read(said)
	go func() { _, _ = c.Write(said) }()
	if _, err := io.ReadFull(c, heard); err != nil || !bytes.Equal(said, heard) {
		t.Errorf("what was said was not heard: %v", err)
	}
	if err := n.Connect(within(t, 10*time.Second), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Error("libp2p: ", err)
	}
}

func TestOnePortForBoth(t *testing.T) { mustWork(t, start(t)) }

func TestAnotherNodeIsNotTaken(t *testing.T) {
	a, b, c := start(t), start(t), start(t)
	var wrong sec.ErrPeerIDMismatch
	if _, err := a.end.Dial(within(t, 10*time.Second), b.ID(), c.at()); !errors.As(err, &wrong) || wrong.Actual != c.ID() {
		t.Errorf("dialled another node: %v", err)
	}
	select {
	case from := <-c.from:
		t.Errorf("%s was accepted", from)
	case <-time.After(100 * time.Millisecond):
	}
}

// Strangers get through the handshake, which proves who they are, and no further.
func TestStrangersAreNotServed(t *testing.T) {
	a, b := start(t), start(t)
	b.end.Handle(func(id peer.ID) bool { return id != a.ID() }, func(peer.ID, *Conn) { t.Error("a stranger was accepted") })
	c, err := a.end.Dial(within(t, 10*time.Second), b.ID(), b.at())
	if err != nil {
		return
	}
	defer c.Reset()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a stranger was told something")
	}
}

func TestOtherTLSIsNotTaken(t *testing.T) {
	a, b := start(t), start(t)
	with, _ := a.end.identity.ConfigForPeer(b.ID())
	for name, config := range map[string]*tls.Config{
		"no certificate": {InsecureSkipVerify: true, NextProtos: []string{ALPN}},
		"TLS 1.2":        {InsecureSkipVerify: true, NextProtos: []string{ALPN}, MaxVersion: tls.VersionTLS12},
		"no ALPN":        {InsecureSkipVerify: true, Certificates: with.Certificates},
		"other ALPN":     {InsecureSkipVerify: true, Certificates: with.Certificates, NextProtos: []string{"h2"}},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := manet.Dial(b.at())
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			c := tls.Client(raw, config)
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			if c.Handshake() == nil {
				if _, err = c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("it was let in: %v", err)
				}
			}
		})
	}
	mustWork(t, b)
}

// TestJunkDoesNoHarm: what scanners, broken peers and enemies say first.
func TestJunkDoesNoHarm(t *testing.T) {
	n := start(t)
	for _, say := range []string{"", "\x16", "\x16\x03", "\x16\x03\x01", "\x16\x03\x01\xff\xff", "\x16\x03\x01\x00\x05hello", "\x13", "\x13/m", "\x13BitTorrent protocol",
		"GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x00", string(make([]byte, 70000))} {
		for _, stay := range []bool{false, true} {
			c, err := manet.Dial(n.at())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, say)
			if stay {
				defer c.Close()
			} else {
				c.Close()
			}
		}
	}
	for range 200 {
		c, err := manet.Dial(n.at())
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, 64)
		_, _ = rand.Read(junk)
		_, _ = c.Write(junk)
		defer c.Close()
	}
	mustWork(t, n)
}

// TestSilentConnectionsMakeRoom: more of them than may be undecided.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	n := start(t)
	var silent []net.Conn
	for i := range maxUndecided + 50 {
		c, err := manet.Dial(n.at())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write([]byte{0x16, 0x03}) // one byte short of a decision
		}
		silent = append(silent, c)
	}
	began := time.Now()
	mustWork(t, n)
	if took := time.Since(began); took > peekTimeout/2 {
		t.Errorf("%s for a socket and a connection beside them", took)
	}
	for _, c := range []net.Conn{silent[0], silent[len(silent)-1]} {
		_ = c.SetReadDeadline(time.Now().Add(2 * peekTimeout))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) || err == nil {
			t.Errorf("a silent connection was left open: %v", err)
		}
	}
}

// TestSlowPeers say their first bytes one by one.
func TestSlowPeers(t *testing.T) {
	n, from := start(t), start(t)
	raw, err := manet.Dial(n.at())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	config, _ := from.end.config(n.ID())
	c := tls.Client(&drip{Conn: raw, left: 20}, config)
	if err := c.HandshakeContext(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if id := <-n.from; id != from.ID() {
		t.Errorf("%s came", id)
	}
}

// drip writes its first bytes one at a time.
type drip struct {
	net.Conn
	left int
}

func (d *drip) Write(p []byte) (n int, err error) {
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

// TestCountedAmongTheHostsConnections, and not after their end.
func TestCountedAmongTheHostsConnections(t *testing.T) {
	a, b := start(t), start(t)
	count := func(n *node) (all int) {
		_ = n.Network().ResourceManager().ViewSystem(func(s network.ResourceScope) error {
			all = s.Stat().NumFD
			return nil
		})
		return all
	}
	c, err := a.end.Dial(within(t, 10*time.Second), b.ID(), b.at())
	if err != nil {
		t.Fatal(err)
	}
	<-b.from
	if count(a) != 1 || count(b) != 1 {
		t.Errorf("%d and %d descriptors are counted, want one each", count(a), count(b))
	}
	_ = c.Reset()
	for deadline := time.Now().Add(10 * time.Second); count(a)+count(b) > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if count(a) != 0 || count(b) != 0 {
		t.Errorf("%d and %d descriptors are counted after the end", count(a), count(b))
	}
}
