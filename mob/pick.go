package mob

// pickLimit bounds the candidates that one pick looks at; beyond it, the best of
// a random sample is as good.
const pickLimit = 512

// mostFirst bounds the clusters before the own one that a pick tells apart.
const mostFirst = 32

// pick chooses the piece to begin with p, -1 when there is none.
//
// Over the WAN it is one that nobody of the own cluster has or asked for, and
// that the fewest other clusters hold or claimed: a piece that two clusters fetch
// from each other crosses the source's links once. Among those it is one that the
// fewest clusters are to begin before, and then one of the node's share; that is the
// first of all where a piece comes so quickly that claims come too late. On the LAN
// it is the share first, since others wait for it from here, and then what the
// fewest local peers have; but last what only one has and another member claims,
// who will soon be a second. Ties are broken at random.
func (s *State) pick(p *peer) int {
	if s.pieces == 0 {
		return -1
	}
	if s.coding.coded() {
		s.look()
	}
	best, bestKey, ties, seen := -1, 0, 0, 0
	from := s.rng.IntN((s.pieces+63)/64) * 64
	for i := range s.todo.Intersection(p.have, from) {
		key, ok := s.key(p, i)
		if !ok {
			continue
		}
		switch {
		case best < 0 || key < bestKey:
			best, bestKey, ties = i, key, 1
		case key == bestKey:
			if ties++; s.rng.IntN(ties) == 0 {
				best = i
			}
		}
		if seen++; seen >= pickLimit {
			break
		}
	}
	return best
}

// key orders the candidates, the least first; ok is false for a piece that is
// not to be asked of p.
func (s *State) key(p *peer, i int) (key int, ok bool) {
	if s.coding.coded() {
		return s.blockKey(p, i)
	}
	if p.local {
		key = int(s.holders[i])
		if !s.own.Has(i) {
			key += 1 << 16
		}
		if key&(1<<16-1) == 1 && s.claims[i] > 0 {
			key += 1 << 17
		}
		return key, true
	}
	if _, later := p.turns[i]; later || !s.free(i) {
		return 0, false
	}
	key = 2 * (mostFirst*int(s.rarity[i]) + min(s.othersFirst(i), mostFirst-1))
	if !s.own.Has(i) {
		key++
		if s.quick(p) {
			key += 1 << 30
		}
	}
	return key, true
}

// free says whether nobody of the own cluster has the piece, as far as what they have
// is not in doubt, or asked for it.
func (s *State) free(i int) bool { return s.claims[i] == 0 && (s.holders[i] == 0 || s.doubted(i)) }
