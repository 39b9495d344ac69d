package bittorrent

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/anacrolix/torrent/mse"
)

// disguise connects to a node by the encrypted handshake.
func disguise(t *testing.T, n *node, key []byte, method mse.CryptoMethod) (net.Conn, error) {
	t.Helper()
	conn, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	through, _, err := mse.InitiateHandshake(conn, key, nil, method)
	return &disguised{conn, through}, err
}

// TestServesDisguisedClients has clients come that insist on the encrypted handshake,
// and on RC4 for all that follows.
func TestServesDisguisedClients(t *testing.T) {
	s := newSample(t, 3<<20+12345)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	for name, method := range map[string]mse.CryptoMethod{
		"in the clear": mse.CryptoMethodPlaintext, "RC4": mse.CryptoMethodRC4, "either": mse.CryptoMethodPlaintext | mse.CryptoMethodRC4,
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := disguise(t, n, s.torrent.Hash[:], method)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := greet(conn, *modern.handshake(s, byte(method))); err != nil {
				t.Fatal(err)
			}
			c := &client{t: t, conn: conn, s: s}
			c.introduce(extended{Client: "disguised"})
			c.download()
		})
	}
}

// TestDisguisedStrangersAreShownOut wants whoever does not know the info-hash, or says
// noise, to learn nothing, and others to be served.
func TestDisguisedStrangersAreShownOut(t *testing.T) {
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	if _, err := disguise(t, n, make([]byte, 20), mse.CryptoMethodRC4); err == nil {
		t.Error("a client was let in that does not know the info-hash")
	}
	if _, err := disguise(t, n, s.torrent.Hash[:], 1<<7); err == nil {
		t.Error("a client was let in with a cipher that nobody has")
	}
	for _, noise := range [][]byte{bytes.Repeat([]byte{0xff}, 1000), make([]byte, 1000), {0x13}} {
		conn, err := net.Dial("tcp", n.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(noise)
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		b, err := io.ReadAll(conn)
		if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
			t.Error("the connection was left open")
		}
		if bytes.Contains(b, []byte(protocolName)) || bytes.Contains(b, s.torrent.Hash[:]) {
			t.Errorf("heard %q", b)
		}
		conn.Close()
	}
	call(t, n, s, modern, 1).download()
}
