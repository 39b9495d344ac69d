package avail

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
)

// Offers are the announcements of a peer.
type Offers struct {
	Have, Claim *bitset.Set
	Seed        bool      // it had all pieces then
	Slow        int       // pieces that it is slow at, and that may be stolen
	Overrode    time.Time // it last started a piece that the node had claimed before

	claimed map[int]time.Time // of its claims and lapsed claims, at most MaxTimes
	lapsed  *bitset.Set       // claims that lasted too long
}

// MaxTimes bounds the times that a node keeps for a peer: of its claims, lapsed ones included, and of deferred
// pieces. An honest peer claims the pieces that are in flight to it.
const MaxTimes = 4096

// NewOffers returns the offers of a peer that has not announced any of a number of pieces.
func NewOffers(pieces int) Offers {
	return Offers{
		Have: bitset.New(pieces), Claim: bitset.New(pieces), lapsed: bitset.New(pieces), claimed: map[int]time.Time{},
	}
}

// AddClaim records a claim, unless the peer has the piece, has too many claims, or has let this one lapse.
func (o *Offers) AddClaim(i int) bool {
	return !o.Have.Has(i) && len(o.claimed) < MaxTimes && !o.lapsed.Has(i) && o.Claim.Add(i)
}

// SetClaimed records the time of a claim.
func (o *Offers) SetClaimed(i int, now time.Time) { o.claimed[i] = now }

// RemoveClaim removes a claim, and reports whether there was one.
func (o *Offers) RemoveClaim(i int) bool {
	delete(o.claimed, i)
	return o.Claim.Remove(i)
}

// ClaimedFor returns the time since a claim, even if it has lapsed; ok is false if there was none.
func (o *Offers) ClaimedFor(i int, now time.Time) (d time.Duration, ok bool) {
	at, ok := o.claimed[i]
	return now.Sub(at), ok
}

// Lapse ends the claims that have lasted for longer than a limit. lapsed is called for each.
func (o *Offers) Lapse(now time.Time, limit time.Duration, lapsed func(i int)) {
	for i := range o.Claim.All() {
		if now.Sub(o.claimed[i]) > limit {
			o.lapsed.Add(i)
			o.Claim.Remove(i)
			lapsed(i)
		}
	}
}

// HasLapsed reports whether any claim has lapsed.
func (o *Offers) HasLapsed() bool { return o.lapsed.Len() > 0 }
