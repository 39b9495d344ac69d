package tracker

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mobgrid/mob/proto"
)

// mergeHandouts is all members of the handouts but self, each once, with the
// addresses of all; and the shortest interval.
func mergeHandouts(hs []*proto.Handout, self proto.PeerID) *proto.Handout {
	out := &proto.Handout{}
	at := make(map[proto.PeerID]int)
	for _, h := range hs {
		if out.Interval == 0 || h.Interval != 0 && h.Interval < out.Interval {
			out.Interval = h.Interval
		}
		for _, m := range h.Members {
			i, known := at[m.ID]
			switch {
			case m.ID == self:
			case known:
				out.Members[i].Addrs = mergeAddrs(out.Members[i].Addrs, m.Addrs)
			default:
				at[m.ID] = len(out.Members)
				out.Members = append(out.Members, m)
			}
		}
	}
	return out
}

// mergeAddrs is a and what b has more, within the limit of a message.
func mergeAddrs(a, b [][]byte) [][]byte {
	out := slices.Clip(a)
	for _, addr := range b {
		known := slices.ContainsFunc(out, func(have []byte) bool { return bytes.Equal(have, addr) })
		if !known && len(out) < proto.MaxAddrs {
			out = append(out, addr)
		}
	}
	return out
}

// mergeFleets takes of every cluster the account with the most nodes: members
// announce to all trackers, so accounts overlap and must not be added up.
func mergeFleets(fs []*proto.Fleet) *proto.Fleet {
	best := make(map[string]proto.FleetCluster)
	for _, f := range fs {
		for _, c := range f.Clusters {
			if b, ok := best[c.Name]; !ok || c.Nodes > b.Nodes {
				best[c.Name] = c
			}
		}
	}
	out := &proto.Fleet{Clusters: make([]proto.FleetCluster, 0, len(best))}
	for _, c := range best {
		out.Clusters = append(out.Clusters, c)
	}
	slices.SortFunc(out.Clusters, func(a, b proto.FleetCluster) int { return strings.Compare(a.Name, b.Name) })
	return out
}
