package bittorrent

import (
	"bytes"
	"errors"
	"expvar"
	"io"
	"net"
	"testing"
	"time"

	"github.com/anacrolix/torrent/mse"
	pp "github.com/anacrolix/torrent/peer_protocol"
)

// connectMSE connects to a node with the encrypted handshake.
func connectMSE(t *testing.T, n *node, key []byte, method mse.CryptoMethod) (net.Conn, error) {
	t.Helper()
	conn, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	rw, _, err := mse.InitiateHandshake(conn, key, nil, method)
	return &encryptedConn{conn, rw}, err
}

// TestServeEncryptedClients serves clients that use the encrypted handshake, with and
// without RC4 after it.
func TestServeEncryptedClients(t *testing.T) {
	t.Parallel()
	s := newSample(t, 3<<20+12345)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	for name, method := range map[string]mse.CryptoMethod{
		"plaintext": mse.CryptoMethodPlaintext,
		"RC4":       mse.CryptoMethodRC4,
		"either":    mse.CryptoMethodPlaintext | mse.CryptoMethodRC4,
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := connectMSE(t, n, s.meta.Hash[:], method)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := exchangeHandshakes(conn, *modern.handshake(s, byte(method))); err != nil {
				t.Fatal(err)
			}
			c := &client{t: t, conn: conn, s: s}
			c.sendHandshake(extendedHandshake{})
			c.download()
		})
	}
}

// TestOffersAreForgotten checks that clients that offer ever new sets of ciphers take no memory.
func TestOffersAreForgotten(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	const offers = 100
	for i := range offers {
		conn, err := connectMSE(t, n, s.meta.Hash[:], mse.CryptoMethodRC4|mse.CryptoMethod(i<<8))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	eventually(t, "the offers are forgotten", func() bool {
		left := 0
		expvar.Get(cipherCounts).(*expvar.Map).Do(func(expvar.KeyValue) { left++ })
		return left < offers/2 // other tests may offer some
	})
}

// TestInvalidEncryptedHandshakes closes connections with another info-hash or random bytes
// without a BitTorrent reply, and serves other clients.
func TestInvalidEncryptedHandshakes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	if _, err := connectMSE(t, n, make([]byte, 20), mse.CryptoMethodRC4); err == nil {
		t.Error("a handshake with another info-hash succeeds")
	}
	if _, err := connectMSE(t, n, s.meta.Hash[:], 1<<7); err == nil {
		t.Error("a handshake with an unknown cipher succeeds")
	}
	for _, noise := range [][]byte{bytes.Repeat([]byte{0xff}, 1000), make([]byte, 1000), {0x13}} {
		conn, err := net.Dial("tcp", n.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(noise)
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
		b, err := io.ReadAll(conn)
		if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
			t.Error("the connection stays open")
		}
		if bytes.Contains(b, []byte(pp.Protocol)) || bytes.Contains(b, s.meta.Hash[:]) {
			t.Errorf("received %q", b)
		}
		conn.Close()
	}
	connect(t, n, s, modern, 1).download()
}
