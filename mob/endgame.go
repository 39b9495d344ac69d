package mob

import (
	"cmp"
	"slices"
	"time"
)

// endgame requests the rest of late pieces of a second peer: for each peer that has room, the
// piece that waits longest, and only if the second peer is expected to be much faster. A piece has
// one helper at a time, so the waste is a few blocks.
func (s *State) endgame() {
	if s.complete {
		return
	}
	if s.wanted.Len() > 0 && len(s.fetches) > 2*len(s.peers) {
		return
	}
	late := s.lateFetches()
	if len(late) == 0 {
		return
	}
	for _, p := range s.peers {
		if p.Stalled || p.Rationed || !p.local && !s.roster.MayFetch(p.level.Group) || !p.pipe.Room() {
			continue
		}
		for _, f := range late {
			if f.helper == nil && f.peer != p && p.Have.Has(f.Piece) && (p.local || f.enters(p.level)) && p.isFaster(f, s.now, s.t.Stall, s.isSpare(p, f)) {
				f.helper = p
				for _, sp := range f.peer.pipe.Requested() {
					if int(sp.Piece) == f.Piece && !f.Has(sp) {
						s.request(p, f, sp)
					}
				}
				break
			}
		}
	}
}

// lateFetches lists the fetches of which every byte is requested, the oldest first.
func (s *table) lateFetches() []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		if f.peer != nil && f.helper == nil && !f.alone && f.Requested() && f.Missing > 0 && !f.isPlanned(s.work) {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int { return cmp.Or(a.started.Compare(b.started), a.Piece-b.Piece) })
	return fs
}

// isFaster reports whether p would deliver a late piece much sooner than the peer that has kept it
// waiting, or, if p's link is spare, than that peer probably will.
func (p *peer) isFaster(f *fetch, now time.Time, stall time.Duration, spare bool) bool {
	queue := p.pipe.Limits.Queue
	rest := p.pipe.Wait() + float64(f.Missing)/max(p.pipe.Rate(), 1)
	waited := f.peer.pipe.Waited(now, f.Piece) - f.grace()
	if waited > 3*queue && waited.Seconds() > 2*rest || waited > stall/2 {
		return true
	}
	return spare && f.peer.pipe.Wait() > 2*(rest+p.pipe.Queue.Seconds())
}

// isSpare reports whether the link to a peer has no other use than to help with a piece: no request is
// outstanding there, and all missing pieces of the group that the piece enters are claimed. Near the
// end a cluster waits for pieces on its slow links, while fast ones are idle. The timing of external
// peers says little.
func (s *State) isSpare(p *peer, f *fetch) bool {
	return p.link != nil && p.link.Out() == 0 && f.level != nil && !f.peer.External && !p.External &&
		!s.picker.Unclaimed(View{s, f.level})
}
