package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/roster"
)

// level is a group of nodes that the node is in: its site, a part of it such as a rack, and so on down
// to its own cluster. Each piece should enter each group once, by the same rules. A piece from a peer
// enters the groups that the peer is not in. It may be started if the outermost of them does not have
// it.
type level struct {
	*roster.Group
	avail.Counts
	order avail.Order
	links map[string]*link // to the siblings

	behind bool // see leaves
	open   bool // pieces could be fetched for the group when peers were last filled
}

func newLevel(g *roster.Group, pieces int, unverified func(i int) bool) *level {
	return &level{
		Group:  g,
		Counts: avail.NewCounts(pieces, unverified),
		order:  avail.NewOrder(g.Name),
		links:  map[string]*link{},
	}
}

// levels are the groups that the node is in, from its site to its own cluster.
type levels []*level

// site returns the outermost level, and own the innermost.
func (s levels) site() *level { return s[0] }
func (s levels) own() *level  { return s[len(s)-1] }

// groups returns the groups that both the node and a peer are in.
func (s levels) groups(p *peer) []*level { return s[:p.shared] }

// enters reports whether a piece that is being fetched comes from outside of a group.
func (f *fetch) enters(l *level) bool { return f != nil && f.level != nil && f.level.Index <= l.Index }

// concerns reports whether a piece that is being fetched comes from outside of a group that a peer
// is in, or that is beside one.
func (f *fetch) concerns(p *peer) bool {
	return f != nil && f.level != nil && f.level.Index <= p.shared
}
