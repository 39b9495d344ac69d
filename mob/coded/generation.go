package coded

import "github.com/mobgrid/mob/mob"

// generation is a generation that is being fetched.
type generation struct {
	number      int
	first, end  int  // its numbers
	blocks      int  // source blocks
	have        int  // blocks that the node has
	sourcesOnly bool // it failed its hashes: source blocks are fetched and verified
	// corrupt has the peers that sent a corrupt copy of a block. It is fetched as if no member of the
	// cluster had it: members may have the same copy.
	corrupt map[int][]*mob.Peer
	// senders are the peers that sent the blocks that the node has.
	senders map[int]*mob.Peer
	// surveys has one survey for each group that the node is in. They are out of date when stale is set, or
	// the State's census has changed.
	surveys []survey
	stale   bool
}

// survey counts the blocks of a generation by where they are, as seen from a group.
type survey struct {
	gained    int // that the group gained since the start, up to the source blocks
	requested int // in flight to the node
	entered   int // that the node has or requested, from outside of the group
	covered   int // that the group has, or that are in flight to it
	around    int // that any group has or claimed, except blocks that only complete holders have
	inside    int // the same within the group
	// members and siblings count the peers of the group, and the siblings, that have all of it.
	members, siblings int
}

// update makes new surveys if anything has changed.
func (g *generation) update(k *Picker) {
	if k.Stored.TakeDirty(g.first, g.end) {
		g.stale = true
	}
	if !g.stale {
		return
	}
	g.stale = false
	for _, l := range k.Levels {
		*g.from(l) = k.surveyed(l, g)
	}
}

// from returns the survey of a group.
func (g *generation) from(l *mob.Level) *survey { return &g.surveys[l.Index] }

// surveyed makes the survey of a generation.
func (k *Picker) surveyed(l *mob.Level, g *generation) survey {
	of := survey{gained: g.from(l).gained}
	of.members, of.siblings = k.CompleteIn(l, g.first, g.end)
	end := g.end
	if g.sourcesOnly {
		end = g.first + g.blocks
	}
	for i := g.first; i < end; i++ {
		k.count(&of, l, i)
	}
	return of
}

// count adds a block to a survey.
func (k *Picker) count(of *survey, l *mob.Level, i int) {
	f, have := k.Fetches[i], k.Stored.Have.Has(i)
	enters := f.Enters(l)
	if f != nil {
		of.requested++
	}
	if f != nil || have || l.Claims[i] > 0 || int(l.Holders[i]) > of.members {
		of.inside++
	}
	if enters || k.entered[l.Index].Has(i) {
		of.entered++
	}
	switch {
	case enters, have, !k.MayTake(l, i) && !k.useless.Has(i):
		of.covered++
		of.around++
	case int(l.Rarity[i]) > of.siblings:
		of.around++
	}
}

// enough reports whether the node has requested as many blocks as it needs.
func (g *generation) enough() bool { return g.have+g.surveys[0].requested >= g.blocks }
