package launch

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
)

func TestAddrs(t *testing.T) {
	t.Parallel()
	all := Addrs()
	if len(all) == 0 || len(all) > MaxAddrs {
		t.Fatalf("addresses %v", all)
	}
	for _, a := range all {
		if !a.IsGlobalUnicast() && (len(all) > 1 || !a.IsLoopback()) {
			t.Errorf("address %s", a)
		}
	}
}

// TestMaliciousHello checks that a hello that would add words to the messages to neighbors is not used.
func TestMaliciousHello(t *testing.T) {
	t.Parallel()
	good := Hello{Path: rand.Text(), Addrs: []string{"10.0.0.1:4001", "[2001:db8::1]:80"}}
	if !good.isServer() {
		t.Errorf("%+v is not a server", good)
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
			t.Errorf("%+v is a server", bad)
		}
	}
}
