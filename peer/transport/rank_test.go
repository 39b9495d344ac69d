package transport

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
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

// TestDialsInOutage dials a public IPv6 address that does not answer, in a prefix for documentation (RFC 9637). Each dial is tried.
func TestDialsInOutage(t *testing.T) {
	t.Parallel()
	h, err := NewHost(newKey(t), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, err := peer.IDFromPrivateKey(newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	to := peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{ma.StringCast("/ip6/3fff::1/tcp/7")}}
	for i := range 150 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := OpenStream(ctx, h, to, "/none")
		cancel()
		if err == nil || strings.Contains(err.Error(), "black hole") {
			t.Fatalf("dial %d: %v", i, err)
		}
	}
}

// TestRoutesFirst sorts the addresses of a machine with twenty services of Kubernetes, whose address for other machines is the highest.
func TestRoutesFirst(t *testing.T) {
	t.Parallel()
	own4, own6 := ma.StringCast("/ip4/192.168.1.5/tcp/7"), ma.StringCast("/ip6/fd00::5/tcp/7")
	all := []ma.Multiaddr{own6, own4}
	for i := range 20 {
		all = append(all, ma.StringCast(fmt.Sprintf("/ip4/10.96.0.%d/tcp/7", 20-i)))
	}
	want := append([]ma.Multiaddr{own4, own6}, sortAddrs(slices.Clone(all[2:]))...)
	got := routesFirst(sortAddrs(all), []netip.Addr{netip.MustParseAddr("fd00::5"), netip.MustParseAddr("192.168.1.5")})
	if !slices.EqualFunc(got, want, ma.Multiaddr.Equal) {
		t.Errorf("%v", got)
	}
}
