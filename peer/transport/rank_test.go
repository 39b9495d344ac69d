package transport

import (
	"slices"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestRankDials dials the addresses of a peer one after the other.
func TestRankDials(t *testing.T) {
	t.Parallel()
	public4, public6 := ma.StringCast("/ip4/198.51.100.1/tcp/7"), ma.StringCast("/ip6/2001:4860::1/tcp/7")
	private4, private6 := ma.StringCast("/ip4/10.0.0.1/tcp/7"), ma.StringCast("/ip6/fd00::1/tcp/7")
	for _, addrs := range [][]ma.Multiaddr{
		{private6, private4, public6, public4},
		{private4, public4},
		{private6, public4},
		{public6, public4},
		{public4},
	} {
		given := slices.Clone(addrs)
		slices.Reverse(given)
		ranked := rankDials(given)
		if len(ranked) != len(addrs) || ranked[0].Delay != 0 {
			t.Fatalf("%v: %v", addrs, ranked)
		}
		for i, d := range ranked {
			if !d.Addr.Equal(addrs[i]) || i > 0 && d.Delay <= ranked[i-1].Delay {
				t.Errorf("%v: %v", addrs, ranked)
			}
		}
	}
}
