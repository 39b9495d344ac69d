package tracker

import (
	"reflect"
	"strings"
	"testing"

	"github.com/multiformats/go-multiaddr"
)

func TestMemberAddrs(t *testing.T) {
	t.Parallel()
	const id = "12D3KooWQkGn2F2AT7m3b8cZuS5i1Nw3kqqHTVvUuGc7kcWPAz1v"
	for _, c := range []struct{ name, announced, remote, want string }{
		{"as announced", "/ip4/10.1.2.3/tcp/4001 /dns4/node.example/tcp/1", "/ip4/9.9.9.9/tcp/50000", "/ip4/10.1.2.3/tcp/4001 /dns4/node.example/tcp/1"},
		{"none", "", "/ip4/9.9.9.9/tcp/50000", "/ip4/9.9.9.9/tcp/50000"},
		{"none, by a relay", "", "/ip4/9.9.9.9/tcp/1/p2p/" + id + "/p2p-circuit", ""},
		{"unspecified", "/ip4/0.0.0.0/tcp/4001", "/ip4/9.9.9.9/tcp/50000", "/ip4/9.9.9.9/tcp/4001"},
		{"unspecified, quic", "/ip4/0.0.0.0/udp/4001/quic-v1", "/ip4/9.9.9.9/tcp/50000", "/ip4/9.9.9.9/udp/4001/quic-v1"},
		{"unspecified, here", "/ip4/0.0.0.0/tcp/4001", "/ip4/127.0.0.1/tcp/50000", "/ip4/127.0.0.1/tcp/4001"},
		{"unspecified, both families", "/ip4/0.0.0.0/tcp/1 /ip6/::/tcp/1", "/ip6/2001:db8::1/tcp/50000", "/ip6/2001:db8::1/tcp/1"},
		{"unspecified and another", "/ip4/0.0.0.0/tcp/1 /ip4/10.0.0.1/tcp/1", "/ip4/9.9.9.9/tcp/2", "/ip4/9.9.9.9/tcp/1 /ip4/10.0.0.1/tcp/1"},
		{"loopback, far", "/ip4/127.0.0.1/tcp/1 /ip6/::1/tcp/1", "/ip4/9.9.9.9/tcp/2", "/ip4/9.9.9.9/tcp/1"},
		{"loopback, here", "/ip4/127.0.0.1/tcp/1", "/ip4/127.0.0.1/tcp/2", "/ip4/127.0.0.1/tcp/1"},
		{"loopback and another", "/ip4/127.0.0.1/tcp/1 /ip4/10.0.0.1/tcp/1", "/ip4/9.9.9.9/tcp/2", "/ip4/10.0.0.1/tcp/1"},
		{"loopback in IPv6 form", "/ip6/::ffff:7f00:1/tcp/22 /ip4/10.0.0.1/tcp/1", "/ip4/9.9.9.9/tcp/2", "/ip4/10.0.0.1/tcp/1"},
		{"loopback, by a relay", "/ip4/127.0.0.1/tcp/22", "/ip4/127.0.0.1/tcp/1/p2p/" + id + "/p2p-circuit", ""},
		{"link-local, far", "/ip4/169.254.169.254/tcp/80 /ip6/fe80::1/tcp/1", "/ip4/9.9.9.9/tcp/2", ""},
		{"link-local, here", "/ip4/169.254.0.7/tcp/1", "/ip4/127.0.0.1/tcp/2", ""},
		{"link-local, near", "/ip4/169.254.0.7/tcp/1 /ip4/127.0.0.1/tcp/22", "/ip4/169.254.0.7/tcp/2", "/ip4/169.254.0.7/tcp/1"},
		{"multicast", "/ip4/224.0.0.1/tcp/1", "/ip4/127.0.0.1/tcp/2", ""},
		{"own id", "/ip4/10.0.0.1/tcp/1/p2p/" + id, "/ip4/9.9.9.9/tcp/2", "/ip4/10.0.0.1/tcp/1"},
		{"relayed", "/ip4/10.0.0.1/tcp/1/p2p/" + id + "/p2p-circuit", "/ip4/9.9.9.9/tcp/2", "/ip4/10.0.0.1/tcp/1/p2p/" + id + "/p2p-circuit"},
		{"twice", "/ip4/10.0.0.1/tcp/1 /ip4/10.0.0.1/tcp/1", "/ip4/9.9.9.9/tcp/2", "/ip4/10.0.0.1/tcp/1"},
		{"only an id", "/p2p/" + id, "/ip4/9.9.9.9/tcp/2", ""},
		{"only an ip", "/ip4/0.0.0.0", "/ip4/9.9.9.9/tcp/2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var announced [][]byte
			for _, a := range strings.Fields(c.announced) {
				announced = append(announced, multiaddr.StringCast(a).Bytes())
			}
			got := []string{}
			for _, b := range memberAddrs(announced, multiaddr.StringCast(c.remote)) {
				got = append(got, multiaddr.Cast(b).String())
			}
			if !reflect.DeepEqual(got, strings.Fields(c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMemberAddrsAreBounded(t *testing.T) {
	t.Parallel()
	long := multiaddr.StringCast("/dns4/" + strings.Repeat("x", 200) + "/tcp/1").Bytes()
	other := multiaddr.StringCast("/dns4/" + strings.Repeat("y", 200) + "/tcp/1").Bytes()
	third := multiaddr.StringCast("/dns4/" + strings.Repeat("z", 200) + "/tcp/1").Bytes()
	small := multiaddr.StringCast("/ip4/10.0.0.1/tcp/1").Bytes()
	got := memberAddrs([][]byte{{0xff, 0xff}, long, other, third, small}, multiaddr.StringCast("/ip4/9.9.9.9/tcp/1"))
	if want := [][]byte{long, other, small}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %d addresses, want the valid ones that fit", len(got))
	}
}
