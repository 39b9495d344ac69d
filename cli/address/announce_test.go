package address

import (
	"net/netip"
	"slices"
	"testing"
)

func TestAnnounceURLs(t *testing.T) {
	got := AnnounceURLs([]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:6969"), netip.MustParseAddrPort("[2001:db8::1]:1")})
	want := []string{
		"http://192.0.2.1:6969/announce", "http://[2001:db8::1]:1/announce",
		"udp://192.0.2.1:6969/announce", "udp://[2001:db8::1]:1/announce",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// What stands for all addresses is none that anybody could dial.
	for _, a := range []string{"0.0.0.0", "::"} {
		all := dialable(netip.MustParseAddr(a))
		if len(all) == 0 {
			t.Errorf("%s: nowhere", a)
		}
		for _, ip := range all {
			if ip.IsUnspecified() || ip.Is6() && a == "0.0.0.0" {
				t.Errorf("%s: %v", a, ip)
			}
		}
	}
}

func TestReachableByClients(t *testing.T) {
	for listen, want := range map[string][]netip.AddrPort{
		"192.0.2.1:6881":     {netip.MustParseAddrPort("192.0.2.1:6881")},
		"[2001:db8::1]:6881": {netip.MustParseAddrPort("[2001:db8::1]:6881")},
		"127.0.0.1:6881":     nil,
		"[::1]:6881":         nil,
	} {
		if got := Reachable(netip.MustParseAddrPort(listen)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", listen, got, want)
		}
	}
	for _, at := range Reachable(netip.MustParseAddrPort("[::]:6881")) { // as many as this machine has
		if a := at.Addr(); a.IsUnspecified() || a.IsLoopback() || at.Port() != 6881 {
			t.Errorf("%v is nowhere to connect to", at)
		}
	}
}
