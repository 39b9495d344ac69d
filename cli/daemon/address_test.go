package daemon

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/transport"
)

// TestOwnAddr checks that an address to print can be dialed.
func TestOwnAddr(t *testing.T) {
	key, err := datadir.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	listen := ma.StringCast("/ip4/0.0.0.0/tcp/0")
	h, err := transport.NewHost(key, []ma.Multiaddr{listen}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a := OwnAddr(h, listen)
	port, err := a.ValueForProtocol(ma.P_TCP)
	if info, e := libpeer.AddrInfoFromP2pAddr(a); e != nil || info.ID != h.ID() || manet.IsIPUnspecified(a) || err != nil || port == "0" {
		t.Errorf("%v: %v, %v", a, e, err)
	}
}

func TestWithPort(t *testing.T) {
	bound := []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/4001"), ma.StringCast("/ip4/0.0.0.0/tcp/4002")}
	for listen, want := range map[string]string{
		"/ip4/0.0.0.0/tcp/0":   "/ip4/0.0.0.0/tcp/4002",
		"/ip4/127.0.0.1/tcp/0": "/ip4/127.0.0.1/tcp/4001",
		"/ip4/127.0.0.1/tcp/7": "/ip4/127.0.0.1/tcp/7",
	} {
		if got := withPort(ma.StringCast(listen), bound); got.String() != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestAnnounceURLs(t *testing.T) {
	got := AnnounceURLs([]netip.AddrPort{
		netip.MustParseAddrPort("192.0.2.1:6969"),
		netip.MustParseAddrPort("[2001:db8::1]:1"),
	})
	want := []string{"http://192.0.2.1:6969/announce", "http://[2001:db8::1]:1/announce"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// The unspecified address is replaced by ones that can be dialed.
	for _, a := range []string{"0.0.0.0", "::"} {
		all := dialableIPs(netip.MustParseAddr(a))
		if len(all) == 0 {
			t.Errorf("%s: no address", a)
		}
		for _, ip := range all {
			if ip.IsUnspecified() || ip.Is6() && a == "0.0.0.0" {
				t.Errorf("%s: %v", a, ip)
			}
		}
	}
}

func TestPageURL(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:80/", "http://[2001:db8::1]:80/", "unix:/run/mob"} {
		if got := pageURL(url); got != url {
			t.Errorf("pageURL(%q) = %q", url, got)
		}
	}
	if got := pageURL("http://[::]:80/"); strings.Contains(got, "[::]") || !strings.HasSuffix(got, ":80/") {
		t.Errorf("pageURL of the unspecified address = %q", got)
	}
}

func TestExternalAddrs(t *testing.T) {
	for listen, want := range map[string][]netip.AddrPort{
		"192.0.2.1:6881":     {netip.MustParseAddrPort("192.0.2.1:6881")},
		"[2001:db8::1]:6881": {netip.MustParseAddrPort("[2001:db8::1]:6881")},
		"127.0.0.1:6881":     nil,
		"[::1]:6881":         nil,
	} {
		if got := externalAddrs(netip.MustParseAddrPort(listen)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", listen, got, want)
		}
	}
	for _, at := range externalAddrs(netip.MustParseAddrPort("[::]:6881")) { // as many as this machine has
		if a := at.Addr(); a.IsUnspecified() || a.IsLoopback() || at.Port() != 6881 {
			t.Errorf("%v cannot be dialed from other machines", at)
		}
	}
}
