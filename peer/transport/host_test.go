package transport

import (
	"crypto/rand"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// The nodes of a cluster behind one public address connect at the same time. libp2p's
// default limits would accept eight of them. They do not apply to loopback, so the test
// asks the resource manager itself.
func TestManyConnectionsFromOneIP(t *testing.T) {
	rm, err := newResourceManager()
	if err != nil {
		t.Fatal(err)
	}
	defer rm.Close()
	for _, from := range []string{"/ip4/9.9.9.9/tcp/1234", "/ip6/2001:db8::1/tcp/1234"} {
		for i := range maxConns / 2 {
			if _, err := rm.OpenConnection(network.DirInbound, true, ma.StringCast(from)); err != nil {
				t.Fatalf("connection %d from %s: %v", i, from, err)
			}
		}
	}
}

// A stranger cannot exhaust memory with streams on one connection.
func TestStreamsOfOnePeer(t *testing.T) {
	rm, err := newResourceManager()
	if err != nil {
		t.Fatal(err)
	}
	defer rm.Close()
	for i := range maxPeerStreams {
		if _, err := rm.OpenStream("peer", network.DirInbound); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if _, err := rm.OpenStream("peer", network.DirInbound); err == nil {
		t.Errorf("a peer may open more than %d streams", maxPeerStreams)
	}
	for from, direction := range map[peer.ID]network.Direction{"peer": network.DirOutbound, "other": network.DirInbound} {
		if _, err := rm.OpenStream(from, direction); err != nil {
			t.Errorf("%s stream with %s: %v", direction, from, err)
		}
	}
}

func TestHostListens(t *testing.T) {
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if !h.ID().MatchesPrivateKey(key) || len(h.Addrs()) != 1 {
		t.Errorf("host %s listens on %v", h.ID(), h.Addrs())
	}
	taken := h.Addrs()[0]
	for _, at := range [][]ma.Multiaddr{{taken}, {ma.StringCast("/ip4/127.0.0.1/tcp/0"), taken}} {
		if second, err := NewHost(key, at, nil); err == nil {
			second.Close()
			t.Errorf("two hosts listen on %s", taken)
		}
	}
}

func TestListenOnForeignAddress(t *testing.T) {
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	if h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}, nil); err == nil {
		h.Close()
		t.Error("listening on an address of another machine succeeded")
	}
}

func newKey() (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	return key, err
}
