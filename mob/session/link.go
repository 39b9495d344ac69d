package session

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/flow"
)

// Link is the way from a group that the node is in to a sibling, such as another site or rack. All
// members of the group share it. Each may request of its matched peers there, but only active members
// start pieces: the first ones in the order of the group at the link.
type Link struct {
	flow.Window
	avail.Sibling
	Level *Level  // the group
	Peers []*Peer // that joined, sorted by id
}

// piecesAtOnce is about the number of pieces in flight into a group where the links are the limit.
// They are few, since only complete pieces are forwarded. With few links several members are active at
// each, whose windows together follow it better.
const piecesAtOnce = 12

// LeastActive returns how many members are active at a link in any case.
func (l *Link) LeastActive() float64 {
	return float64(max(1, piecesAtOnce/max(1, len(l.Level.Siblings))))
}

// linkTo returns the link to a sibling.
func (l *Level) linkTo(sibling string, limits *flow.Limits) *Link {
	to := l.Links[sibling]
	if to == nil {
		to = &Link{Window: flow.NewWindow(limits), Level: l, Sibling: avail.NewSibling(sibling, len(l.Holders))}
		l.Links[sibling] = to
	}
	return to
}

func (l *Link) activeMembers() int { return int(max(l.Active, l.LeastActive())) }

// AddRemote records that the group of a remote peer has or claims a piece.
func (t *Table) AddRemote(p *Peer, i int) {
	if p.Level.AddRemote(&p.Link.Sibling, i) {
		t.Stored.Touch(i)
		t.spare(p.Level, i)
	}
}

// RemoveRemote corrects the rarity of a piece that a remote peer has no more.
func (t *Table) RemoveRemote(p *Peer, i int) {
	for _, q := range p.Link.Peers {
		if q.Have.Has(i) || q.Claim.Has(i) {
			return
		}
	}
	if p.Level.RemoveRemote(&p.Link.Sibling, i) {
		t.Stored.Touch(i)
	}
}
