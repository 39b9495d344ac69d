package peer

import (
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/swarm"
)

// SetLimits changes the limits of the node, which all its transfers share.
func (n *Node) SetLimits(l limit.Limits) {
	n.limits.Set(l)
	n.sharing.share.SetLimit(l.ClusterWANDown)
}

// Limits returns the limits of the node.
func (n *Node) Limits() limit.Limits {
	l := n.limits.Limits()
	l.ClusterWANDown = n.sharing.share.Demand().Limit
	return l
}

// SetLimits changes the limits of the transfer, until the node closes. The limits of the node apply as well.
func (t *Transfer) SetLimits(l limit.Limits) { t.limits.Set(l) }

// Limits returns the limits of the transfer.
func (t *Transfer) Limits() limit.Limits { return t.limits.Limits() }

// swarmLimits returns the limits of the transfer's swarm.
func (r *run) swarmLimits() swarm.Limits {
	own, governed, all := &r.limits, &r.governed, &r.node.limits
	return swarm.Limits{
		WANDown: limit.Chain{&own.WANDown, &governed.WANDown, &r.node.sharing.share.Bucket, &all.WANDown},
		WANUp:   limit.Chain{&own.WANUp, &governed.WANUp, &all.WANUp},
		LANUp:   limit.Chain{&own.LANUp, &governed.LANUp, &all.LANUp},
	}
}
