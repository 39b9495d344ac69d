package daemon

import (
	"net/netip"
	"slices"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func TestReachableAddr(t *testing.T) {
	all := []ma.Multiaddr{
		ma.StringCast("/ip6/2001:db8::7/tcp/1"),
		ma.StringCast("/ip4/127.0.0.1/tcp/1"),
		ma.StringCast("/ip4/198.51.100.7/tcp/1"),
	}
	for _, c := range []struct {
		listen string
		all    []ma.Multiaddr
		want   string
	}{
		{"/ip4/0.0.0.0/tcp/1", all, "/ip4/198.51.100.7/tcp/1"},
		{"/ip6/::/tcp/1", all, "/ip6/2001:db8::7/tcp/1"},
		{"/ip4/0.0.0.0/tcp/1", all[:2], "/ip4/127.0.0.1/tcp/1"},
		{"/ip4/0.0.0.0/tcp/1", nil, "/ip4/0.0.0.0/tcp/1"},
	} {
		if got := reachableAddr(ma.StringCast(c.listen), c.all); got.String() != c.want {
			t.Errorf("%s of %v: %s, want %s", c.listen, c.all, got, c.want)
		}
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
