package transport

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestAnyClock connects a host that starts now with one that starts in the year 2000, by the clock of the latter, and opens a bulk
// socket.
func TestAnyClock(t *testing.T) {
	now, socket := newSecurity(t), tlsConfig(t)
	synctest.Test(t, func(t *testing.T) { // in 2000
		then := newSecurity(t)
		for _, end := range []struct{ client, server *security }{{now, then}, {then, now}} {
			handshake(t, func(c net.Conn) error {
				s, err := end.client.SecureOutbound(t.Context(), c, end.server.local)
				if err == nil && (s.RemotePeer() != end.server.local || s.ConnState().StreamMultiplexer == "") {
					err = errors.New("connected to another peer, or without a muxer")
				}
				return err
			}, func(c net.Conn) error {
				_, err := end.server.SecureInbound(t.Context(), c, "")
				return err
			})
		}
		handshake(t, func(c net.Conn) error { return tls.Client(c, tlsConfig(t)).Handshake() },
			func(c net.Conn) error { return tls.Server(c, socket).Handshake() })
	})
}

// handshake fails unless both ends of a connection succeed. Then the server writes nothing after the last bytes of the client.
func handshake(t *testing.T, client, server func(net.Conn) error) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan error)
	go func() {
		defer b.Close()
		done <- server(b)
	}()
	err := client(a)
	_ = a.Close()
	if other := <-done; err != nil || other != nil {
		t.Errorf("client: %v; server: %v", err, other)
	}
}

func newSecurity(t *testing.T) *security {
	t.Helper()
	key := newKey(t)
	identity, err := newIdentity(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &security{identity, id}
}
