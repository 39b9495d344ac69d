package session

import "github.com/mobgrid/mob/mob/avail"

// If a member of a rack has every piece, all nodes that fetch request of it, in its rack and in other racks. Its
// interface is the limit then, and a byte that it sends a second time is lost. So pieces that it sent to another rack
// may come back from there. Sites have no such rule, since bytes between them cost more than time at a seed.

// UpdateSeeds counts the seeds of each group but the site: the peers that had everything when they
// Joined. Where they are not few, for those that fetch, they are enough for the group.
func (t *Table) UpdateSeeds() {
	for _, l := range t.Levels[1:] {
		seeds, fetching := 0, 1
		for _, p := range t.Peers {
			switch {
			case p.Shared <= l.Index:
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
			t.Stored.TouchAll()
			t.ReconsiderAll()
		}
	}
}

// spare leaves a piece of the complete siblings of a group to a sibling that is not complete, and that
// claims or has it: the other siblings get it from there, and the rack of the seed can serve its own
// members. After the time that a piece waits in two queues it may be started anyway.
func (t *Table) spare(l *Level, i int) {
	if l.Index == 0 || l.Complete == 0 {
		return
	}
	for _, to := range l.Links {
		if !to.Pieces.Full() {
			continue
		}
		for _, p := range to.Peers {
			if p.Have.Has(i) {
				t.SparePeer(p, i)
			}
		}
	}
}

// SparePeer is spare for a peer that just got the piece.
func (t *Table) SparePeer(p *Peer, i int) {
	l := p.Level
	spares := int(l.Rarity[i]) > l.Complete && len(p.Deferred) < avail.MaxTimes
	if l.Index > 0 && p.Link.Pieces.Full() && spares && p.IsActive() && t.Wanted.Has(i) && l.Free(i) {
		t.Defer(p, i, 2*t.Tuning.Queue)
	}
}
