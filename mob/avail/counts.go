package avail

import "github.com/mobgrid/mob/mob/bitset"

// Counts has the pieces of a group of nodes, as far as its members and siblings announced them.
type Counts struct {
	// By piece: the members that have it, the members that claim it, and the siblings that have or claim it.
	Holders, Claims, Rarity []uint16
	Inflow                  Inflow
	Seeds                   int // members that had all pieces, and that other groups may relieve
	Slow                    int // pieces that the node is slow to fetch for the group
	Complete                int // siblings that have or claim all pieces

	unverified func(i int) bool // the copies of a piece may be corrupt
}

// Sibling has the pieces that a sibling of a group has or claims.
type Sibling struct {
	Order
	Pieces *bitset.Set
}

// NewCounts returns the counts of a group before any announcement. Copies of unverified pieces may be corrupt.
func NewCounts(pieces int, unverified func(i int) bool) Counts {
	return Counts{
		Holders: make([]uint16, pieces), Claims: make([]uint16, pieces), Rarity: make([]uint16, pieces),
		unverified: unverified,
	}
}

// Free reports whether no member has a piece, as far as that is verified, or claims it. Seeds that other groups
// relieve do not count.
func (c *Counts) Free(i int) bool {
	return c.Claims[i] == 0 && (c.Holders[i] == 0 || int(c.Holders[i]) <= c.Seeds || c.unverified(i))
}

// NewSibling returns a sibling without pieces.
func NewSibling(name string, pieces int) Sibling {
	return Sibling{NewOrder(name), bitset.New(pieces)}
}

// AddHolder counts a member that has a piece, and reports whether it is the first.
func (c *Counts) AddHolder(i int) (first bool) {
	c.Holders[i]++
	return c.Holders[i] == 1
}

// RemoveHolder removes a member that had a piece, and reports whether it was the last.
func (c *Counts) RemoveHolder(i int) (last bool) {
	c.Holders[i]--
	return c.Holders[i] == 0
}

// AddRemote records that a sibling has or claims a piece, and reports whether that is news.
func (c *Counts) AddRemote(s *Sibling, i int) bool {
	if !s.Pieces.Add(i) {
		return false
	}
	c.Rarity[i]++
	if s.Pieces.Full() {
		c.Complete++
	}
	return true
}

// RemoveRemote records that a sibling does not have or claim a piece any more, and reports whether that is news.
func (c *Counts) RemoveRemote(s *Sibling, i int) bool {
	full := s.Pieces.Full()
	if !s.Pieces.Remove(i) {
		return false
	}
	c.Rarity[i]--
	if full {
		c.Complete--
	}
	return true
}
