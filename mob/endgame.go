package mob

import (
	"cmp"
	"slices"
)

// endgame requests the rest of late pieces of a second peer: for each peer that has room, the
// piece that waits longest, and only if the second peer promises to be much faster. A piece has
// one helper at a time, so the waste is a few blocks.
func (s *State) endgame() {
	if s.complete || s.now.Before(s.helpAt) {
		return
	}
	s.helpAt = s.now.Add(s.t.Queue)
	if s.wanted.Len() > 0 && len(s.fetches) > 2*len(s.peers) {
		return
	}
	late := s.lateFetches()
	if len(late) == 0 {
		return
	}
	for _, p := range s.peers {
		if p.stalled || p.rationed || !p.local && !s.mayFetch(p.level) || !p.room(s.t) {
			continue
		}
		for _, f := range late {
			if f.helper == nil && f.peer != p && p.have.Has(f.piece) && (p.local || f.enters(p.level)) && s.isFaster(p, f) {
				s.help(p, f)
				break
			}
		}
	}
}

// lateFetches lists the fetches of which every byte is requested, the oldest first.
func (s *State) lateFetches() []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		if f.peer != nil && f.helper == nil && !f.alone && f.requested() && f.missing > 0 && !s.plan.follows(f) {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int { return cmp.Or(a.started.Compare(b.started), a.piece-b.piece) })
	return fs
}

// isFaster reports whether p would deliver a late piece much sooner than the peer that has kept it
// waiting.
func (s *State) isFaster(p *peer, f *fetch) bool {
	rest := float64(f.missing) / max(p.meter.rate(), 1)
	waited := f.peer.waited(s.now, f) - s.grace(f)
	return waited > 3*s.t.Queue && waited.Seconds() > 2*(p.wait()+rest) || waited > s.t.Stall/2
}

// help requests of p what another peer was requested of a fetch.
func (s *State) help(p *peer, f *fetch) {
	f.helper = p
	for _, r := range slices.Clone(f.peer.requests) {
		if r.fetch == f && !f.has(r.span) {
			s.request(p, f, r.span)
		}
	}
}
