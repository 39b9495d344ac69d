package peer

import (
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/swarm"
)

// SetLimits changes the limits of the node, which all its transfers share.
func (n *Node) SetLimits(l limit.Limits) { n.limits.Set(l) }

// Limits returns the limits of the node.
func (n *Node) Limits() limit.Limits { return n.limits.Limits() }

// SetLimits changes the limits of the transfer. Those of the node hold as well. They are kept until
// the node closes.
func (t *Transfer) SetLimits(l limit.Limits) { t.limits.Set(l) }

// Limits returns the limits of the transfer.
func (t *Transfer) Limits() limit.Limits { return t.limits.Limits() }

// swarmLimits returns the limits of the transfer's swarm.
func (t *Transfer) swarmLimits() swarm.Limits {
	own, all := &t.limits, &t.node.limits
	return swarm.Limits{
		WANDown: limit.Chain{&own.WANDown, &all.WANDown},
		WANUp:   limit.Chain{&own.WANUp, &all.WANUp},
		LANUp:   limit.Chain{&own.LANUp, &all.LANUp},
	}
}

// ShareStatus is the node's part in the limit that its cluster shares.
type ShareStatus struct {
	// Rate is the node's part of Limit, and Members how many share it, the node included.
	Rate    limit.Rate `json:"rate"`
	Limit   limit.Rate `json:"limit"`
	Members int        `json:"members"`
	// LowestBy is the id of a member that has a lower limit than the node, empty if none has.
	LowestBy string `json:"lowest_by,omitempty"`
}

// Share returns the node's part in the limit that its cluster shares, nil if it has no such limit.
func (n *Node) Share() *ShareStatus { return nil }
