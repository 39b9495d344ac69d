package transport

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// dialTo has a host dial a peer that answers with serve, and returns why the dial failed.
func dialTo(t *testing.T, serve func(net.Conn)) error {
	l, err := manet.Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(waitTimeout))
		serve(c)
	}()
	defer func() { <-done }()
	key := newKey(t)
	other := newKey(t)
	h, err := NewHost(key, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, err := peer.IDFromPrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	return h.Connect(context.Background(), peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{l.Multiaddr()}})
}

// A dialed connection starts the handshake of TLS before the peer has agreed to TLS.
func TestDialDoesNotWaitForAnswer(t *testing.T) {
	var got [len(offer) + len(tlsPrefix)]byte
	_ = dialTo(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, got[:]); err != nil {
			t.Error("nothing follows the offer:", err)
		}
	})
	if string(got[:]) != offer+tlsPrefix {
		t.Errorf("the host sent %q", got)
	}
}

func TestDialOfPeerWithoutTLS(t *testing.T) {
	err := dialTo(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "\x13/multistream/1.0.0\n\x03na\n")
		_, _ = io.Copy(io.Discard, c)
	})
	if err == nil || !strings.Contains(err.Error(), "protocols not supported") {
		t.Errorf("the dial ended with %v", err)
	}
}
