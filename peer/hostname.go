package peer

import (
	"github.com/mobgrid/mob/mob/plan"
)

// nameIn returns the name of the node's host in a plan, which may be nil. A plan made from a topology that a swarm
// measured names hosts by the peer ids of their nodes.
func (n *Node) nameIn(p *plan.Plan) string {
	if id := n.host.ID().String(); p != nil && p.Index(n.cfg.Host) < 0 && p.Index(id) >= 0 {
		return id
	}
	return n.cfg.Host
}
