package reach

import (
	"net/netip"
	"slices"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func binaryAddrs(texts ...string) (out [][]byte) {
	for _, text := range texts {
		out = append(out, ma.StringCast(text).Bytes())
	}
	return out
}

// TestFromPeer checks that a peer that is far cannot have a node dial its machine or network.
func TestFromPeer(t *testing.T) {
	all := []string{
		"/ip4/127.0.0.1/tcp/22", "/ip6/::1/tcp/22", "/ip4/169.254.169.254/tcp/80", "/ip6/fe80::1/tcp/1",
		"/ip4/10.0.0.1/tcp/1", "/ip4/100.64.0.1/tcp/1", "/ip6/fd00::1/tcp/1", "/dns4/localhost/tcp/1",
		"/ip4/192.0.2.1/tcp/1", "/ip6/2001:db8::1/tcp/1",
	}
	for from, want := range map[string][]string{
		"192.0.2.9":        all[8:],
		"::ffff:192.0.2.9": all[8:],
		"2001:db8::9":      all[8:],
		"10.1.2.3":         all[4:],
		"fd00::9":          all[4:],
		"169.254.0.9":      all[2:],
		"127.0.0.1":        all,
		"::1":              all,
	} {
		got := FromPeer(binaryAddrs(all...), netip.MustParseAddr(from))
		if !slices.EqualFunc(got, binaryAddrs(want...), slices.Equal) {
			t.Errorf("from %s: %d addresses, want %q", from, len(got), want)
		}
	}
	never := binaryAddrs("/ip4/0.0.0.0/tcp/1", "/ip6/::/tcp/1", "/ip4/224.0.0.1/tcp/1")
	if got := FromPeer(append(never, []byte{1}), netip.MustParseAddr("127.0.0.1")); len(got) != 0 {
		t.Errorf("%x may be dialed", got)
	}
	if got := FromPeer(binaryAddrs(all...), netip.Addr{}); len(got) != 2 {
		t.Errorf("from nowhere: %d addresses", len(got))
	}
}

// TestFromTracker checks that a tracker cannot have a node dial its machine or link, unless the tracker has such an address.
func TestFromTracker(t *testing.T) {
	all := []string{
		"/ip4/127.0.0.1/tcp/22", "/ip6/::ffff:7f00:1/tcp/22", "/ip4/169.254.169.254/tcp/80", "/ip6/fe80::1/tcp/1",
		"/ip4/10.0.0.1/tcp/1", "/ip6/fd00::1/tcp/1", "/dns4/node.example/tcp/1", "/ip4/192.0.2.1/tcp/1",
	}
	for from, want := range map[string][]string{
		"":            all[4:],
		"192.0.2.9":   all[4:],
		"10.1.2.3":    all[4:],
		"169.254.0.9": all[2:],
		"127.0.0.1":   all,
	} {
		at, _ := netip.ParseAddr(from)
		if got := FromTracker(binaryAddrs(all...), at); !slices.EqualFunc(got, binaryAddrs(want...), slices.Equal) {
			t.Errorf("from %q: %d addresses, want %q", from, len(got), want)
		}
	}
}

func TestMayLearn(t *testing.T) {
	for _, tt := range []struct {
		node, addr string
		want       bool
	}{
		{"192.0.2.1", "198.51.100.1", true},
		{"192.0.2.1", "10.0.0.1", true},
		{"10.0.0.2", "127.0.0.1", false},
		{"127.0.0.2", "127.0.0.1", true},
		{"127.0.0.2", "169.254.0.1", false},
		{"fe80::2", "fe80::1", true},
		{"0.0.0.0", "0.0.0.0", false},
	} {
		if got := MayLearn(netip.MustParseAddr(tt.node), netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("a node at %s may learn %s: %v", tt.node, tt.addr, got)
		}
	}
}
