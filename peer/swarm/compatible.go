package swarm

import (
	"fmt"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// refusal returns what a node with this Hello is told if it cannot take part in the swarm,
// and nil if it can. All nodes of a swarm exchange the content in one way, which its link
// names; permutation gossip stays within one site. In a network the cluster is that of the
// node's certificate, which is nil without one.
func (s *Swarm) refusal(hello *proto.Hello, cert *membership.Certificate) *proto.Goodbye {
	if cert != nil && hello.Cluster != cert.Cluster {
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: fmt.Sprintf(
			"the node says that it is of the cluster %s, and its certificate is for %s", hello.Cluster, cert.Cluster)}
	}
	switch {
	case !s.coding.Agrees(hello.Features):
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: mismatch(s.coding, proto.CodingOf(hello.Features))}
	case s.coding.Strategy.Gossip() && proto.SharedParts(hello.Cluster, s.cfg.Cluster) == 0:
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: permutation.Excluded(s.cfg.Cluster)}
	}
	return nil
}

// refusedBy returns the refusal that a peer with this Hello should have sent, and nil if
// there is none. Older peers accept nodes that use another coding.
func (s *Swarm) refusedBy(hello *proto.Hello, cert *membership.Certificate) error {
	if cert != nil && hello.Cluster != cert.Cluster {
		return fmt.Errorf("the peer says that it is of the cluster %s, and its certificate is for %s",
			hello.Cluster, cert.Cluster)
	}
	switch {
	case !s.coding.Agrees(hello.Features):
		return &proto.RemoteError{Code: proto.CodeExcluded, Text: mismatch(proto.CodingOf(hello.Features), s.coding)}
	case s.coding.Strategy.Gossip() && proto.SharedParts(hello.Cluster, s.cfg.Cluster) == 0:
		return fmt.Errorf("the peer is of the cluster %s: %s", hello.Cluster, permutation.Excluded(s.cfg.Cluster))
	}
	return nil
}

// mismatch says how the content is exchanged here, for a node that exchanges it in another
// way.
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

// way describes how a content is exchanged.
func way(c proto.Coding) string {
	switch {
	case c.Strategy.Gossip():
		return "sent by permutation gossip"
	case c.Coded():
		return fmt.Sprintf("coded with k=%d", c.K)
	}
	return "sent as plain pieces"
}
