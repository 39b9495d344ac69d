package transport

import (
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// ParseAddrs parses binary multiaddrs and skips those that are invalid.
func ParseAddrs(addrs [][]byte) []ma.Multiaddr {
	out := make([]ma.Multiaddr, 0, len(addrs))
	for _, b := range addrs {
		if a, err := ma.NewMultiaddrBytes(b); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// AddrInfos groups multiaddrs that end in /p2p/ID by peer, in the order in which the
// peers first appear. It skips other addresses and those of self.
func AddrInfos(addrs []ma.Multiaddr, self peer.ID) []peer.AddrInfo {
	var out []peer.AddrInfo
	index := map[peer.ID]int{}
	for _, a := range addrs {
		info, err := peer.AddrInfoFromP2pAddr(a)
		if err != nil || info.ID == self {
			continue
		}
		if i, ok := index[info.ID]; ok {
			out[i].Addrs = append(out[i].Addrs, info.Addrs...)
			continue
		}
		index[info.ID] = len(out)
		out = append(out, *info)
	}
	return out
}
