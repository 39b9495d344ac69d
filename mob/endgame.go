package mob

import "github.com/mobgrid/mob/mob/session"

// endgame requests the rest of late pieces of a second peer: for each peer that has room, the
// piece that waits longest, and only if the second peer is expected to be much faster. A piece has
// one helper at a time, so the waste is a few blocks.
func (s *State) endgame() {
	if s.Complete {
		return
	}
	if s.Wanted.Len() > 0 && len(s.Fetches) > 2*len(s.Peers) {
		return
	}
	late := s.Late()
	if len(late) == 0 {
		return
	}
	for _, p := range s.Peers {
		if p.Stalled || p.Rationed || !p.Local && !s.roster.MayFetch(p.Level.Group) || !p.Pipe.Room() {
			continue
		}
		for _, f := range late {
			if f.Helper == nil && f.Peer != p && p.Have.Has(f.Piece) && (p.Local || f.Enters(p.Level)) && p.IsFaster(f, s.Now, s.Tuning.Stall, s.isSpare(p, f)) {
				f.Helper = p
				for _, sp := range f.Peer.Pipe.Requested() {
					if int(sp.Piece) == f.Piece && !f.Has(sp) {
						s.request(p, f, sp)
					}
				}
				break
			}
		}
	}
}

// isSpare reports whether the link to a peer has no other use than to help with a piece: no request is
// outstanding there, and all missing pieces of the group that the piece enters are claimed. Near the
// end a cluster waits for pieces on its slow links, while fast ones are idle. The timing of external
// peers says little.
func (s *State) isSpare(p *session.Peer, f *session.Fetch) bool {
	return p.Link != nil && p.Link.Out() == 0 && f.Level != nil && !f.Peer.External && !p.External &&
		!s.picker.Unclaimed(s.View(f.Level))
}
