package transport

import (
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// rankDials orders the addresses of a peer as libp2p does, but dials public ones after private ones. libp2p dials both
// at once, and a peer that has both gets two connections, one of which is closed after its handshakes. An
// address that fails is followed by the next without a delay, and so is one that is slow to accept after
// [swarm.PublicTCPDelay].
func rankDials(addrs []ma.Multiaddr) []network.AddrDelay {
	ranked := swarm.DefaultDialRanker(addrs)
	private := false
	for _, d := range ranked {
		private = private || manet.IsPrivateAddr(d.Addr)
	}
	for i := range ranked {
		if private && !manet.IsPrivateAddr(ranked[i].Addr) {
			ranked[i].Delay += swarm.PublicTCPDelay
		}
	}
	return ranked
}
