package book

import (
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestHost wants one name for a machine, whatever its port and way, and one for all that have
// no address.
func TestHost(t *testing.T) {
	for at, want := range map[string]string{
		"/ip4/10.0.0.1/tcp/4001":          "10.0.0.1",
		"/ip4/10.0.0.1/udp/7/quic-v1":     "10.0.0.1",
		"/ip6/::ffff:10.0.0.1/tcp/4001":   "10.0.0.1",
		"/ip6/fd00::1/tcp/4001":           "fd00::1",
		"/ip4/10.0.0.9/tcp/1/p2p-circuit": "10.0.0.9",
		"/dns4/example.org/tcp/4001":      "unknown",
		"/unix/tmp/socket":                "unknown",
	} {
		if got := Host(ma.StringCast(at)); got != want {
			t.Errorf("%s is at %s, want %s", at, got, want)
		}
	}
}
