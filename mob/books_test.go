package mob

import (
	"fmt"

	"github.com/mobgrid/mob/proto"
)

// NewPieces is the picker of plain pieces, for tests outside of the package.
func NewPieces(length int64, size int) Picker { return newPieces(length, size) }

// NewGrowing returns the picker of a growing content.
func NewGrowing(length int64, size int) Picker { return newGrowing(length, size) }

// CheckBooks compares the counts of a State with the facts. Every number must be stored, wanted or in
// progress, or not exist yet.
func CheckBooks(s *State) error {
	for i := range s.layout.Count {
		n := 0
		for _, in := range []bool{s.stored.Have.Has(i), s.wanted.Has(i), s.fetches[i] != nil} {
			if in {
				n++
			}
		}
		if n > 1 || n == 0 && !s.cfg.Growing {
			return fmt.Errorf("piece %d: stored %v, wanted %v, in progress %v",
				i, s.stored.Have.Has(i), s.wanted.Has(i), s.fetches[i] != nil)
		}
		if err := checkCensus(s, i); err != nil {
			return err
		}
	}
	return checkRequests(s)
}

func checkCensus(s *State, i int) error {
	for _, l := range s.levels {
		holders, claims := 0, 0
		siblings := map[string]bool{}
		for _, p := range s.peers {
			has, claim := p.Have.Has(i), p.Claim.Has(i)
			switch inside := p.shared > l.Index; {
			case inside && p.Holds() && has:
				holders++
			case inside && p.Claims() && claim:
				claims++
			case p.shared == l.Index && (has || claim):
				siblings[proto.ClusterGroup(p.Cluster, l.Index+1)] = true
			}
		}
		if int(l.Holders[i]) != holders || int(l.Claims[i]) != claims || int(l.Rarity[i]) != len(siblings) {
			return fmt.Errorf("%s, piece %d: holders %d, claims %d, rarity %d, want %d, %d, %d",
				l.Name, i, l.Holders[i], l.Claims[i], l.Rarity[i], holders, claims, len(siblings))
		}
	}
	return nil
}

func checkRequests(s *State) error {
	links := map[*link]int{}
	for _, p := range s.peers {
		sum := 0
		for _, sp := range p.pipe.Requested() {
			sum += int(sp.Length)
			if s.fetches[int(sp.Piece)] == nil {
				return fmt.Errorf("peer %s owes a span of a fetch that is over", p.ID)
			}
		}
		if sum != p.pipe.InFlight() {
			return fmt.Errorf("peer %s owes %d bytes, counted %d", p.ID, sum, p.pipe.InFlight())
		}
		if p.link != nil {
			links[p.link] += sum
		}
	}
	for _, l := range s.levels {
		for _, to := range l.links {
			if to.Out() != links[to] {
				return fmt.Errorf("a link has %d bytes in flight, counted %d", links[to], to.Out())
			}
		}
	}
	return nil
}
