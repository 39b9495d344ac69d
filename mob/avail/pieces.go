package avail

import (
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// Pieces are the stored pieces of a node.
type Pieces struct {
	Have     *bitset.Set
	Passed   *bitset.Set // of a growing content: pieces that members had and do not offer any more
	withheld *bitset.Set // of Have: not offered at present
	dirty    *bitset.Set // pieces whose counts or fetches changed since the picker asked
}

// NewPieces returns the pieces of a node that has some of count pieces.
func NewPieces(have []proto.Range, count int) Pieces {
	p := Pieces{bitset.New(count), bitset.New(count), bitset.New(count), bitset.New(count)}
	for i := range bitset.Numbers(have, count) {
		p.Have.Add(i)
	}
	return p
}

// Offers reports whether a piece is stored and not withheld.
func (p *Pieces) Offers(i int) bool { return p.Have.Has(i) && !p.withheld.Has(i) }

// OffersAll reports whether there are pieces, and all are stored and none is withheld.
func (p *Pieces) OffersAll() bool { return p.Have.Len() > 0 && p.Have.Full() && p.withheld.Len() == 0 }

// Withhold stops to offer a piece, and reports whether it was offered.
func (p *Pieces) Withhold(i int) bool { return p.Have.Has(i) && p.withheld.Add(i) }

// Offer offers a piece again, and reports whether it was withheld.
func (p *Pieces) Offer(i int) bool { return p.withheld.Remove(i) }

// Remove removes a piece, and reports whether it was stored, and offered.
func (p *Pieces) Remove(i int) (stored, offered bool) {
	if !p.Have.Remove(i) {
		return false, false
	}
	p.dirty.Add(i)
	return true, !p.withheld.Remove(i)
}

// Touch records a change of the copies of a piece, or of its fetch.
func (p *Pieces) Touch(i int) { p.dirty.Add(i) }

// TouchAll is Touch for all pieces.
func (p *Pieces) TouchAll() { p.dirty.AddRange(0, p.dirty.Cap()) }

// TakeDirty reports whether the counts of any of the pieces first <= i < end have changed since the last call.
func (p *Pieces) TakeDirty(first, end int) bool {
	if p.dirty.Count(first, end) == 0 {
		return false
	}
	p.dirty.RemoveRange(first, end)
	return true
}
