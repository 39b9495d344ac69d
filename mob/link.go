package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/flow"
)

// link is the way from a group that the node is in to a sibling, such as another site or rack. All
// members of the group share it. Each may request of its matched peers there, but only active members
// start pieces: the first ones in the order of the group at the link.
type link struct {
	flow.Window
	avail.Sibling
	level *level  // the group
	peers []*peer // that joined, sorted by id
}

// piecesAtOnce is about the number of pieces in flight into a group where the links are the limit.
// They are few, since only complete pieces are forwarded. With few links several members are active at
// each, whose windows together follow it better.
const piecesAtOnce = 12

// leastActive returns how many members are active at a link in any case.
func (l *link) leastActive() float64 {
	return float64(max(1, piecesAtOnce/max(1, len(l.level.Siblings))))
}

// linkTo returns the link to a sibling.
func (l *level) linkTo(sibling string, limits *flow.Limits) *link {
	to := l.links[sibling]
	if to == nil {
		to = &link{Window: flow.NewWindow(limits), level: l, Sibling: avail.NewSibling(sibling, len(l.Holders))}
		l.links[sibling] = to
	}
	return to
}

// isActive reports whether the node may begin pieces with a peer: on the LAN, or as an active
// member at the link.
func (p *peer) isActive() bool {
	return p.local || p.matched && p.position < p.link.activeMembers()
}

func (l *link) activeMembers() int { return int(max(l.Active, l.leastActive())) }

// activeOver returns the number of members that may start pieces over the link to a peer, as the node
// sees it.
func (p *peer) activeOver() int { return min(p.link.activeMembers(), p.level.Size) }
