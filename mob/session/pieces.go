package session

import "github.com/mobgrid/mob/mob/bitset"

// IsLeft reports whether a piece is left to whoever begins it for a group: no member has, claims or
// fetches it.
func (t *Table) IsLeft(l *Level, i int) bool {
	return l.Free(i) && !t.Stored.Have.Has(i) && !t.Fetches[i].Enters(l)
}

// MayTake reports whether the node may start a piece for a group: it is free, or the plan assigns it
// to the node.
func (t *Table) MayTake(l *Level, i int) bool {
	return t.Work.Sender(i) != nil || l.Free(i) && !t.Work.Leaves(l.Index, i, t.Now)
}

// MayStartAny reports whether the node may start any piece with a remote peer.
func (t *Table) MayStartAny(p *Peer) bool {
	for i := range t.Wanted.Intersection(p.Have, 0) {
		if !t.MustWait(p, i) && t.MayTake(p.Level, i) {
			return true
		}
	}
	return false
}

// MaySend reports whether something of a fetch that has no peer may be requested of p.
func (t *Table) MaySend(p *Peer, f *Fetch) bool {
	return !f.Requested() && p.Have.Has(f.Piece) && !(p.Rationed && t.isHeld(p, f.Piece)) && !t.Work.Keeps(p.Planned, f.Piece)
}

// isHeld reports whether a peer other than p that is not rationed has a piece to be requested.
func (t *Table) isHeld(p *Peer, i int) bool {
	for _, q := range t.Peers {
		if q != p && q.Matched && !q.Stalled && q.Have.Has(i) && !q.Rationed {
			return true
		}
	}
	return false
}

// Fetching returns the number of pieces that are requested of a peer.
func (t *Table) Fetching() (n int) {
	for _, f := range t.Fetches {
		if f.Peer != nil {
			n++
		}
	}
	return n
}

// Missing returns the pieces to fetch that are not requested of a peer. The set must not be changed.
func (t *Table) Missing() *bitset.Set {
	missing := t.Wanted
	for i, f := range t.Fetches {
		if f.Peer != nil {
			continue
		}
		if missing == t.Wanted {
			missing = t.Wanted.Clone()
		}
		missing.Add(i)
	}
	return missing
}
