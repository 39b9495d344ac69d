package mob

import (
	"fmt"
	"slices"

	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// NewPieces is the picker of plain pieces, for tests outside of the package.
func NewPieces(length int64, size int) Picker { return newPieces(length, size, 0) }

// NewGrowing returns the picker of a growing content.
func NewGrowing(length int64, size int) Picker { return newGrowing(length, size) }

// CheckBooks compares the counts of a State with the facts. Every number must be stored, wanted or in
// progress, or not exist yet. The next fill must find every peer that is marked as ready.
func CheckBooks(s *State) error {
	for i := range s.Layout.Count {
		n := 0
		for _, in := range []bool{s.Stored.Have.Has(i), s.Wanted.Has(i), s.Fetches[i] != nil} {
			if in {
				n++
			}
		}
		if n > 1 || n == 0 && !s.cfg.Growing {
			return fmt.Errorf("piece %d: stored %v, wanted %v, in progress %v",
				i, s.Stored.Have.Has(i), s.Wanted.Has(i), s.Fetches[i] != nil)
		}
		if err := checkCensus(s, i); err != nil {
			return err
		}
	}
	for _, p := range s.Peers {
		if p.Ready != slices.Contains(s.Ready, p) {
			return fmt.Errorf("peer %s: ready %v, listed %v", p.ID, p.Ready, !p.Ready)
		}
	}
	return checkRequests(s)
}

func checkCensus(s *State, i int) error {
	for _, l := range s.Levels {
		holders, claims := 0, 0
		siblings := map[string]bool{}
		for _, p := range s.Peers {
			has, claim := p.Have.Has(i), p.Claim.Has(i)
			switch inside := p.Shared > l.Index; {
			case inside && p.Holds() && has:
				holders++
			case inside && p.Claims() && claim:
				claims++
			case p.Shared == l.Index && (has || claim):
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
	links := map[*session.Link]int{}
	for _, p := range s.Peers {
		sum := 0
		for _, sp := range p.Pipe.Requested() {
			sum += int(sp.Length)
			if s.Fetches[int(sp.Piece)] == nil {
				return fmt.Errorf("peer %s owes a span of a fetch that is over", p.ID)
			}
		}
		if sum != p.Pipe.InFlight() {
			return fmt.Errorf("peer %s owes %d bytes, counted %d", p.ID, sum, p.Pipe.InFlight())
		}
		if p.Link != nil {
			links[p.Link] += sum
		}
	}
	for _, l := range s.Levels {
		for _, to := range l.Links {
			if to.Out() != links[to] {
				return fmt.Errorf("a link has %d bytes in flight, counted %d", links[to], to.Out())
			}
		}
	}
	return nil
}
