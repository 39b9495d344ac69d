package peer

import (
	"slices"
	"strings"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// meet connects in the background to members of other sites that the node will exchange pieces with, while the
// manifest is in flight. sources are peers that have the content.
func (by describer) meet(members []proto.Member, sources []libpeer.AddrInfo) {
	var near []string // the sites of sources
	for _, m := range members {
		if slices.ContainsFunc(sources, func(s libpeer.AddrInfo) bool { return string(s.ID) == string(m.ID) }) {
			near = append(near, proto.ClusterGroup(m.Cluster, 1))
		}
	}
	for _, m := range matches(proto.PeerID(by.dialer.host.ID()), by.cfg.Cluster, members, near) {
		if id, err := libpeer.IDFromBytes([]byte(m.ID)); err == nil {
			by.dialer.connect(libpeer.AddrInfo{ID: id, Addrs: transport.ParseAddrs(m.Addrs)})
		}
	}
}

// maxMet bounds the members that are met.
const maxMet = 32

// matches returns the members of other sites that match a node by their ranks. Of two nodes, the one with
// the lesser id returns the other. Every node returns its matches in the sites of a source, whose nodes get the
// manifest first and connect to no member.
func matches(self proto.PeerID, cluster string, members []proto.Member, near []string) (out []proto.Member) {
	own, sites := proto.ClusterGroup(cluster, 1), map[string][]proto.Member{}
	members = append(slices.Clone(members), proto.Member{ID: self, Cluster: cluster})
	slices.SortFunc(members, func(a, b proto.Member) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for _, m := range members {
		site := proto.ClusterGroup(m.Cluster, 1)
		sites[site] = append(sites[site], m)
	}
	size, rank := len(sites[own]), slices.IndexFunc(sites[own], func(m proto.Member) bool { return m.ID == self })
	for site, list := range sites {
		if site == own {
			continue
		}
		first, end := ranks.Matches(rank, size, len(list))
		for _, m := range list[first:end] {
			if (self < m.ID || slices.Contains(near, site)) && len(out) < maxMet {
				out = append(out, m)
			}
		}
	}
	return out
}
