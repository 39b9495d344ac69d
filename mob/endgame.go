package mob

// endgame requests the rest of late pieces of a second peer: for each peer that has room, the
// piece that waits longest, and only if the second peer is expected to be much faster. A piece has
// one helper at a time, so the waste is a few blocks.
func (s *State) endgame() {
	if s.Complete || s.Wanted.Len() > 0 && len(s.Fetches) > 2*len(s.Peers) {
		return
	}
	late := s.Late()
	for _, p := range s.Peers {
		if p.Stalled || p.Rationed || !p.Local && !s.roster.MayFetch(p.Level.Group) || !p.Pipe.Room() {
			continue
		}
		for _, f := range late {
			if f.Helper == nil && f.Peer != p && p.Have.Has(f.Piece) && (p.Local || f.Enters(p.Level)) &&
				(s.IsFaster(p, f) || s.IsUnused(p, f) || p.IsSpare(f) && !s.picker.Unclaimed(f.Level)) {
				f.Helper = p
				for _, sp := range f.Peer.Pipe.Requested() {
					if int(sp.Piece) == f.Piece && !f.Has(sp) {
						s.request(p, f, sp)
					}
				}
				for !f.Requested() {
					s.request(p, f, f.Next(p.Pipe.Block()))
				}
				break
			}
		}
	}
}
