package swarm

import (
	"fmt"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// rejection returns the Goodbye for a node with this Hello that cannot take part in the swarm, nil if
// it can. All nodes of a swarm use the coding in the link; permutation gossip stays within one site. In
// a network the node's certificate has the cluster; it is nil without one.
func (s *Swarm) rejection(hello *proto.Hello, cert *membership.Certificate) *proto.Goodbye {
	if err := cert.CheckCluster(hello.Cluster); err != nil {
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: err.Error()}
	}
	switch {
	case !s.coding.Agrees(hello.Features):
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: mismatch(s.coding, proto.CodingOf(hello.Features))}
	case s.coding.Strategy.Gossip() && proto.SharedParts(hello.Cluster, s.cfg.Cluster) == 0:
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: permutation.Excluded(s.cfg.Cluster)}
	}
	return nil
}

func mismatch(here, other proto.Coding) string {
	switch {
	case here.Strategy.Gossip():
		return fmt.Sprintf("this content is %s here: use a link with x.rlnc=%d and x.gossip=%s",
			way(here), here.K, here.Strategy)
	case here.Coded():
		return fmt.Sprintf("this content is %s here, not %s: use the link that has x.rlnc=%d", way(here), way(other), here.K)
	}
	return fmt.Sprintf("this content is %s here, not %s: use a link without x.rlnc", way(here), way(other))
}

func way(c proto.Coding) string {
	switch {
	case c.Strategy.Gossip():
		return "sent by permutation gossip"
	case c.Coded():
		return fmt.Sprintf("coded with k=%d", c.K)
	}
	return "sent as plain pieces"
}
