package payload

import (
	"fmt"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// Refuse returns what a node with this Hello is told if it cannot take part in the swarm, and
// nil if it can. All nodes of a swarm exchange the content in one way, which its link names;
// permutation gossip stays within one cluster.
func (f *Form) Refuse(hello *proto.Hello) *proto.Goodbye {
	switch {
	case !f.Coding.Agrees(hello.Features):
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: mismatch(f.Coding, proto.CodingOf(hello.Features))}
	case f.Gossip != nil && hello.Cluster != f.Gossip.cluster:
		return &proto.Goodbye{Code: proto.CodeExcluded, Text: permutation.Excluded(f.Gossip.cluster)}
	}
	return nil
}

// RefusedBy returns the refusal that a peer with this Hello should have sent to a node of the
// swarm, and nil if there is none. Older peers accept nodes that use another coding.
func (f *Form) RefusedBy(hello *proto.Hello) error {
	switch {
	case !f.Coding.Agrees(hello.Features):
		return &proto.RemoteError{Code: proto.CodeExcluded, Text: mismatch(proto.CodingOf(hello.Features), f.Coding)}
	case f.Gossip != nil && hello.Cluster != f.Gossip.cluster:
		return fmt.Errorf("the peer is of the cluster %s: %s", hello.Cluster, permutation.Excluded(f.Gossip.cluster))
	}
	return nil
}

// mismatch tells a node that exchanges the content as other says how it is exchanged here.
func mismatch(here, other proto.Coding) string {
	switch {
	case here.Strategy.Gossip():
		return fmt.Sprintf("the content goes round by permutations here: use a link with x.rlnc=%d and x.gossip=%s", here.K, here.Strategy)
	case here.Coded():
		return fmt.Sprintf("this content is %s here, not %s: use the link that has x.rlnc=%d", way(here), way(other), here.K)
	}
	return fmt.Sprintf("this content is %s here, not %s: use a link without x.rlnc", way(here), way(other))
}

// way describes how a content is exchanged.
func way(c proto.Coding) string {
	switch {
	case c.Strategy.Gossip():
		return "sent by permutations"
	case c.Coded():
		return fmt.Sprintf("coded with k=%d", c.K)
	}
	return "sent as plain pieces"
}
