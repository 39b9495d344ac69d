package mob

import "github.com/mobgrid/mob/mob/avail"

// If a member of a rack has every piece, all nodes that fetch request of it, in its rack and in other racks. Its
// interface is the limit then, and a byte that it sends a second time is lost. So pieces that it sent to another rack
// may come back from there. Sites have no such rule, since bytes between them cost more than time at a seed.

// updateSeeds counts the seeds of each group but the site: the peers that had everything when they
// joined. Where they are not few, for those that fetch, they are enough for the group.
func (s *table) updateSeeds() {
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
			s.stored.TouchAll()
			s.reconsiderAll()
		}
	}
}

// spare leaves a piece of the complete siblings of a group to a sibling that is not complete, and that
// claims or has it: the other siblings get it from there, and the rack of the seed can serve its own
// members. After the time that a piece waits in two queues it may be started anyway.
func (s *table) spare(l *level, i int) {
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
func (s *table) sparePeer(p *peer, i int) {
	l := p.level
	spares := int(l.Rarity[i]) > l.Complete && len(p.deferred) < avail.MaxTimes
	if l.Index > 0 && p.link.Pieces.Full() && spares && p.isActive() && s.wanted.Has(i) && l.Free(i) {
		s.deferPiece(p, i, 2*s.t.Queue)
	}
}
