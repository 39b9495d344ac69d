package launch

import (
	"crypto/rand"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestAddrs(t *testing.T) {
	t.Parallel()
	all := addrs(4001)
	if len(all) == 0 || len(all) > maxAddrs {
		t.Fatalf("addresses %v", all)
	}
	loopback := 0
	for _, a := range all {
		ap, err := netip.ParseAddrPort(a)
		if err != nil || ap.Port() != 4001 || ap.Addr().IsLinkLocalUnicast() {
			t.Errorf("address %s, %v", a, err)
		}
		if ap.Addr().IsLoopback() {
			loopback++
		}
	}
	if loopback != 0 && loopback != len(all) {
		t.Errorf("loopback is among %v", all)
	}
}

// TestLyingHello has hosts that would add words to the messages of their neighbours.
func TestLyingHello(t *testing.T) {
	t.Parallel()
	good := Hello{Path: rand.Text(), Addrs: []string{"10.0.0.1:4001", "[2001:db8::1]:80"}}
	if !good.isServer() {
		t.Errorf("%+v is none", good)
	}
	for _, bad := range []Hello{
		{}, {Path: good.Path}, {Addrs: good.Addrs},
		{Path: "X\nget 00 Y 10.0.0.1:80", Addrs: good.Addrs},
		{Path: "X Y", Addrs: good.Addrs},
		{Path: "../X", Addrs: good.Addrs},
		{Path: strings.Repeat("X", 1000), Addrs: good.Addrs},
		{Path: "X", Addrs: []string{"10.0.0.1:80\nput 00 1"}},
		{Path: "X", Addrs: []string{"10.0.0.1:80 10.0.0.2:80"}},
		{Path: "X", Addrs: []string{"metadata.internal:80"}},
		{Path: "X", Addrs: []string{"[fe80::1%eth0]:80"}},
		{Path: "X", Addrs: []string{"*:80"}},
		{Path: "X", Addrs: slices.Repeat(good.Addrs, 10)},
	} {
		if bad.isServer() {
			t.Errorf("%+v is one", bad)
		}
	}
}
