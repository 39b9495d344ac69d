package peer

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// A cluster behind one public address arrives at once: libp2p's defaults would
// let eight of it in. They spare loopback, so the manager is asked itself.
func TestHostTakesManyFromOneAddress(t *testing.T) {
	rm, err := newResources()
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

func TestHostListensAndProvesKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	key, err := LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if !h.ID().MatchesPrivateKey(key) || len(h.Addrs()) != 1 {
		t.Errorf("host %s at %v", h.ID(), h.Addrs())
	}
	taken := h.Addrs()[0]
	for _, at := range [][]ma.Multiaddr{{taken}, {ma.StringCast("/ip4/127.0.0.1/tcp/0"), taken}} {
		if second, err := NewHost(key, at); err == nil {
			second.Close()
			t.Errorf("two hosts at %s", taken)
		}
	}
}

func TestHostNeedsUsableAddress(t *testing.T) {
	key, err := LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}); err == nil {
		h.Close()
		t.Error("listening at somebody else's address")
	}
}

func TestLoadKey(t *testing.T) {
	dir := t.TempDir()
	keys := make([]crypto.PrivKey, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = LoadKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !k.Equals(keys[0]) {
			t.Fatal("not everybody got the same key")
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	path := filepath.Join(dir, keyFile)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(dir); err == nil {
		t.Error("a damaged key was taken, or replaced")
	}
}
