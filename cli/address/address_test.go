package address

import (
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func TestReachable(t *testing.T) {
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
		if got := reachable(ma.StringCast(c.listen), c.all); got.String() != c.want {
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
