package swarm

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// sources counts the received payload by the clusters of the senders, for the trackers. Another site is
// counted as one, and so is another rack of the own site. It is safe for concurrent use.
type sources struct {
	own string // the node's cluster

	mu sync.Mutex
	// byCluster has at most as many clusters as a message: the first ones, and the groups that the
	// node is in, which count further racks in them.
	byCluster map[string]*atomic.Int64
	others    atomic.Int64
}

// of returns the counter of a cluster.
func (s *sources) of(cluster string) *atomic.Int64 {
	if proto.CheckCluster(cluster) != nil { // BitTorrent clients have none
		return &s.others
	}
	shared, name := proto.SharedParts(s.own, cluster), s.name(cluster)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byCluster[name]
	if c == nil && len(s.byCluster) >= proto.MaxFlows-proto.ClusterParts(s.own) {
		if shared == 0 {
			return &s.others
		}
		name = proto.ClusterGroup(s.own, shared)
		c = s.byCluster[name]
	}
	if s.byCluster == nil {
		s.byCluster = map[string]*atomic.Int64{}
	}
	if c == nil {
		c = new(atomic.Int64)
		s.byCluster[name] = c
	}
	return c
}

func (s *sources) name(cluster string) string {
	return proto.ClusterGroup(cluster, proto.SharedParts(s.own, cluster)+1)
}

func (s *sources) flows() (out []proto.Flow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.byCluster {
		if n := n.Load(); n > 0 {
			out = append(out, proto.Flow{Cluster: name, Bytes: uint64(n)})
		}
	}
	slices.SortFunc(out, func(a, b proto.Flow) int { return strings.Compare(a.Cluster, b.Cluster) })
	return out
}

// received returns the received bytes for the trackers, nil if there are none.
func (s *Swarm) received() *proto.Received {
	flows := s.sources.flows()
	if flows == nil {
		return nil
	}
	return &proto.Received{Length: uint64(s.m.Length()), WAN: uint64(s.traffic.Traffic().WANIn), Flows: flows}
}
