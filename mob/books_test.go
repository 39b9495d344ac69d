package mob

import (
	"fmt"
)

// NewPieces is the picker of plain pieces, for tests outside of the package.
func NewPieces(length int64, size int) Picker { return newPieces(length, size) }

// NewGrowing is the picker of a content that grows.
func NewGrowing(length int64, size int) Picker { return newGrowing(length, size) }

// CheckBooks compares what a State counts with what it counts it from. Every number must be
// stored, wanted or on its way, or not have come into being.
func CheckBooks(s *State) error {
	for i := range s.pieces {
		n := 0
		for _, in := range []bool{s.have.Has(i), s.wanted.Has(i), s.fetches[i] != nil} {
			if in {
				n++
			}
		}
		if n > 1 || n == 0 && !s.cfg.Growing {
			return fmt.Errorf("piece %d: stored %v, wanted %v, on its way %v",
				i, s.have.Has(i), s.wanted.Has(i), s.fetches[i] != nil)
		}
		if err := checkCensus(s, i); err != nil {
			return err
		}
	}
	return checkRequests(s)
}

func checkCensus(s *State, i int) error {
	holders, claims := 0, 0
	clusters := map[string]bool{}
	for _, p := range s.peers {
		switch has, claim := p.have.Has(i), p.claim.Has(i); {
		case p.holds() && has:
			holders++
		case p.claims() && claim:
			claims++
		case !p.local && (has || claim):
			clusters[p.Cluster] = true
		}
	}
	if int(s.holders[i]) != holders || int(s.claims[i]) != claims || int(s.rarity[i]) != len(clusters) {
		return fmt.Errorf("piece %d: holders %d, claims %d, rarity %d, want %d, %d, %d",
			i, s.holders[i], s.claims[i], s.rarity[i], holders, claims, len(clusters))
	}
	return nil
}

func checkRequests(s *State) error {
	links := map[*link]int{}
	for _, p := range s.peers {
		sum := 0
		for _, r := range p.requests {
			sum += int(r.span.Length)
			if s.fetches[r.fetch.piece] != r.fetch {
				return fmt.Errorf("peer %s owes a span of a fetch that is over", p.ID)
			}
		}
		if sum != p.inFlight {
			return fmt.Errorf("peer %s owes %d bytes, counted %d", p.ID, sum, p.inFlight)
		}
		if p.link != nil {
			links[p.link] += sum
		}
	}
	for _, l := range s.links {
		if l.out != links[l] {
			return fmt.Errorf("a link has %d bytes in flight, counted %d", links[l], l.out)
		}
	}
	return nil
}
