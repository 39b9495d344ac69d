package transport

import (
	"crypto/rand"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"
)

func TestHostListens(t *testing.T) {
	key := newKey(t)
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if !h.ID().MatchesPrivateKey(key) || len(h.Addrs()) != 1 {
		t.Errorf("host %s listens on %v", h.ID(), h.Addrs())
	}
	taken := h.Addrs()[0]
	for _, at := range [][]ma.Multiaddr{{taken}, {ma.StringCast("/ip4/127.0.0.1/tcp/0"), taken}} {
		if second, err := NewHost(key, at, nil, nil); err == nil {
			second.Close()
			t.Errorf("two hosts listen on %s", taken)
		}
	}
}

func TestListenOnForeignAddress(t *testing.T) {
	key := newKey(t)
	if h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}, nil, nil); err == nil {
		h.Close()
		t.Error("listening on an address of another machine succeeded")
	}
}

func newKey(t testing.TB) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
