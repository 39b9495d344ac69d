package swarm

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// sources counts the received payload by the clusters of the senders, for the trackers. It is safe for
// concurrent use.
type sources struct {
	mu sync.Mutex
	// byCluster has at most as many clusters as a message, those that came first.
	byCluster map[string]*atomic.Int64
	others    atomic.Int64
}

// of returns the counter of a cluster.
func (s *sources) of(cluster string) *atomic.Int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.byCluster[cluster]; c != nil {
		return c
	}
	if len(s.byCluster) >= proto.MaxFlows || proto.CheckCluster(cluster) != nil { // BitTorrent clients have none
		return &s.others
	}
	if s.byCluster == nil {
		s.byCluster = map[string]*atomic.Int64{}
	}
	c := new(atomic.Int64)
	s.byCluster[cluster] = c
	return c
}

// flows returns what came from each cluster.
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

// received is what the node tells the trackers about what came, nil while that is nothing.
func (s *Swarm) received() *proto.Received {
	flows := s.sources.flows()
	if flows == nil {
		return nil
	}
	return &proto.Received{Length: uint64(s.m.Length()), WAN: uint64(s.traffic.Traffic().WANIn), Flows: flows}
}
