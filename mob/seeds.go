package mob

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
			case p.shared <= l.index:
			case p.seed && p.holds():
				seeds++
			case !p.have.Full():
				fetching++
			}
		}
		if fetching <= 2*seeds {
			seeds = 0
		}
		if seeds != l.seeds {
			l.seeds = seeds
			s.dirty.AddRange(0, s.pieces)
			s.reconsiderAll()
		}
	}
}
