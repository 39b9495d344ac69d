package peertest

import (
	"crypto/rand"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/transport"
)

// Stranger starts a libp2p host that is not a node: the test speaks the protocol for it.
func Stranger(t testing.TB) host.Host {
	t.Helper()
	return newHost(t, func(libpeer.ID) *membership.Member { return nil })
}

// Certified starts a libp2p host with a network's certificate for a cluster.
func Certified(t testing.TB, secret *membership.Secret, cluster string) host.Host {
	t.Helper()
	return newHost(t, func(id libpeer.ID) *membership.Member {
		m, err := membership.New(membership.Config{Secret: secret, Self: id, Cluster: cluster})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func newHost(t testing.TB, member func(libpeer.ID) *membership.Member) host.Host {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := libpeer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, member(id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// AddrInfo returns the addresses of a node.
func AddrInfo(n *peer.Node) libpeer.AddrInfo {
	return libpeer.AddrInfo{ID: n.Host().ID(), Addrs: n.Host().Addrs()}
}

// LinkAddrs returns the addresses of a host as links have them.
func LinkAddrs(t testing.TB, h host.Host) []ma.Multiaddr {
	t.Helper()
	addrs, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	return addrs
}
