package session

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/roster"
)

// Level is a group of nodes that the node is in: its site, a part of it such as a rack, and so on down
// to its own cluster. Each piece should enter each group once, by the same rules. A piece from a peer
// enters the groups that the peer is not in. It may be started if the outermost of them does not have
// it.
type Level struct {
	*roster.Group
	avail.Counts
	Links map[string]*Link // to the siblings

	Behind bool // the node starts no pieces for it that other members have
	Open   bool // pieces could be fetched for the group when peers were last filled
	order  avail.Order
}

// Levels are the groups that the node is in, from its site to its own cluster.
type Levels []*Level

// Site returns the outermost level.
func (s Levels) Site() *Level { return s[0] }

// Own returns the innermost level, the cluster.
func (s Levels) Own() *Level { return s[len(s)-1] }

// Groups returns the groups that both the node and a peer are in.
func (s Levels) Groups(p *Peer) []*Level { return s[:p.Shared] }
