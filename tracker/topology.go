package tracker

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// topologyAge is the age at which a topology is made again.
const topologyAge = time.Second

func (s *Server) topology(key []byte) (*proto.Topology, error) {
	s.state.Lock()
	reply := s.state.table.keptTopology(s.clock(), key)
	s.state.Unlock()
	if reply == nil {
		return nil, errUnknownSwarm
	}
	return reply(), nil
}

// keptTopology returns the topology of a swarm, at most a second old, nil if the swarm is not known. The first call of the
// result names and sorts, outside of the lock.
func (t *table) keptTopology(now time.Time, key []byte) func() *proto.Topology {
	s := t.swarm(now, key)
	if s == nil {
		return nil
	}
	if s.topology == nil || t.now.Sub(s.topologyAt) >= topologyAge {
		reply := s.makeTopology()
		s.topologyAt, s.topology = t.now, sync.OnceValue(func() *proto.Topology {
			finishTopology(reply)
			return reply
		})
	}
	return s.topology
}

// makeTopology copies the measurements of the members. Hosts without a name have none, and the links are in no order: see
// [finishTopology].
func (s *swarm) makeTopology() *proto.Topology {
	out := &proto.Topology{
		Hosts: make([]proto.Host, 0, min(len(s.members), proto.MaxMembers)),
		Links: make([]proto.TopologyLink, 0, len(s.links)),
	}
	for c := range s.all() {
		for _, m := range c.members {
			if m.cluster != c || len(out.Hosts) == proto.MaxMembers {
				continue
			}
			h := proto.Host{ID: m.id, Cluster: c.name}
			if s.named[m.name] == m {
				h.Name = m.name
			}
			out.Hosts = append(out.Hosts, h)
		}
		if len(out.Hosts) == proto.MaxMembers {
			break
		}
	}
	for d, l := range s.links {
		out.Links = append(out.Links, proto.TopologyLink{
			From: d.from, To: d.to, Rate: uint64(min(l.best, maxBytes)), Full: l.full(), RTT: l.rtt,
			Sent: l.sent, Lost: min(l.lost, l.sent),
		})
	}
	return out
}

// finishTopology names the hosts that have no name by their ids, and sorts the links.
func finishTopology(t *proto.Topology) {
	for i := range t.Hosts {
		if h := &t.Hosts[i]; h.Name == "" {
			h.Name = peer.ID(h.ID).String()
		}
	}
	slices.SortFunc(t.Links, func(a, b proto.TopologyLink) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
}
