package mob

import "github.com/mobgrid/mob/mob/avail"

// Where a member of a rack has everything and the others fetch, all of them ask it, and the racks
// beside it do too. If its interface is the limit, a byte that it sends a second time is lost. So
// what has left it for another rack may come back from there: it enters the rack once all the same.
// There is no such rule for sites, since bytes between them cost more than time at a seed.

// updateSeeds counts the seeds of each group but the site: the peers that had everything when they
// joined. Where they are not few, for those that fetch, they are enough for the group.
func (s *State) updateSeeds() {
	for _, l := range s.levels[1:] {
		seeds, fetching := 0, 1
		for _, p := range s.peers {
			switch {
			case p.shared <= l.Index:
			case p.Seed && p.Holds():
				seeds++
			case !p.Have.Full():
				fetching++
			}
		}
		if fetching <= 2*seeds {
			seeds = 0
		}
		if seeds != l.Seeds {
			l.Seeds = seeds
			s.stored.Dirty.AddRange(0, s.layout.Count)
			s.reconsiderAll()
		}
	}
}

// spare leaves a piece of the siblings of a group that have everything to one that does not, and that
// has claimed it or has it by now: from there it goes to the other siblings. Otherwise each of them
// would ask the rack with the seed for all that it lacks, since that always has it, and this rack has
// its own members to serve. After the time in which a piece waits in two queues it may be begun there
// after all. Links between sites have rates of their own, and nothing would be won.
func (s *State) spare(l *level, i int) {
	if l.Index == 0 || l.Complete == 0 {
		return
	}
	for _, to := range l.links {
		if !to.Pieces.Full() {
			continue
		}
		for _, p := range to.peers {
			if p.Have.Has(i) {
				s.sparePeer(p, i)
			}
		}
	}
}

// sparePeer is spare for a peer that just got the piece.
func (s *State) sparePeer(p *peer, i int) {
	l := p.level
	spares := int(l.Rarity[i]) > l.Complete && len(p.deferred) < avail.MaxTimes
	if l.Index > 0 && p.link.Pieces.Full() && spares && p.isActive() && s.wanted.Has(i) && s.free(l, i) {
		s.deferPiece(p, i, 2*s.t.Queue)
	}
}
