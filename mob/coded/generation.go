package coded

import "github.com/mobgrid/mob/mob"

// generation is one that is being fetched.
type generation struct {
	number      int
	first, end  int  // its numbers
	blocks      int  // source blocks
	have        int  // blocks that the node has
	gained      int  // blocks that the cluster gained, until they are enough
	sourcesOnly bool // it failed its hashes: source blocks are fetched, which can be checked
	// doubtful are blocks of which a false copy came. They are fetched as if no member of the
	// cluster had them: members may have the same copy.
	doubtful map[int]bool
	// from are the peers that sent the blocks that the node has.
	from map[int]mob.Peer
	// survey is out of date when stale is set, or the State's census has changed.
	survey survey
	stale  bool
}

// survey counts the blocks of a generation by where they are.
type survey struct {
	requested int // on their way to the node
	wan       int // that the node has or requested, and that come over the WAN
	cluster   int // that the cluster has, or that are on their way to it
	around    int // that any cluster has or claimed, without those that only complete holders have
	inside    int // the same within the cluster
	// members and clusters are how many local peers, and other clusters, have all of it.
	members, clusters int
}

// update makes the survey anew if anything has changed.
func (g *generation) update(k *Picker) {
	if k.Changed(g.first, g.end) {
		g.stale = true
	}
	if g.stale {
		g.survey, g.stale = k.surveyed(g), false
	}
}

// surveyed makes the survey of a generation.
func (k *Picker) surveyed(g *generation) (v survey) {
	v.members, v.clusters = k.Complete(g.first, g.end)
	end := g.end
	if g.sourcesOnly {
		end = g.first + g.blocks
	}
	for i := g.first; i < end; i++ {
		k.count(&v, i)
	}
	return v
}

// count adds a block to a survey.
func (k *Picker) count(v *survey, i int) {
	f, requested := k.Fetch(i)
	have := k.Has(i)
	if requested {
		v.requested++
	}
	if requested || have || k.Claims(i) > 0 || k.Holders(i) > v.members {
		v.inside++
	}
	if f.WAN || k.fetched.Has(i) {
		v.wan++
	}
	switch {
	case f.WAN, have, !k.Free(i) && !k.useless.Has(i):
		v.cluster++
		v.around++
	case k.Rarity(i) > v.clusters:
		v.around++
	}
}

// enough reports whether the node has requested as many blocks as it needs.
func (g *generation) enough() bool { return g.have+g.survey.requested >= g.blocks }
