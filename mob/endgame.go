package mob

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// help asks a second peer for the rest of a late piece: the end game. It takes
// place when a peer has room and nothing new to be asked for, for the piece that
// waits longest, and only where the second peer promises to be much faster. One
// piece is helped once at a time, so the waste is a few blocks.
func (s *State) help() {
	if s.complete || s.now.Before(s.helpAt) {
		return
	}
	s.helpAt = s.now.Add(s.t.Queue)
	if s.wanted.Len() > 0 && len(s.fetches) > 2*len(s.peers) {
		return
	}
	late := s.late()
	if len(late) == 0 {
		return
	}
	wan := s.mayFetchWAN()
	for _, p := range s.peers {
		if p.stalled || !p.local && !wan || !p.room(s.t) {
			continue
		}
		for _, f := range late {
			if f.helper == nil && f.peer != p && p.have.Has(f.piece) && (p.local || f.wan) && s.faster(p, f) {
				s.helpWith(p, f)
				break
			}
		}
	}
}

// late lists the fetches that are wholly asked for, the oldest first.
func (s *State) late() []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		if f.peer != nil && f.helper == nil && f.requested() && f.missing > 0 {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int {
		if c := a.started.Compare(b.started); c != 0 {
			return c
		}
		return a.piece - b.piece
	})
	return fs
}

// faster says whether p would deliver a late piece much sooner than its worker,
// who has kept it waiting already.
func (s *State) faster(p *peer, f *fetch) bool {
	rest := float64(f.missing) / max(p.meter.rate(), 1)
	age := f.peer.age(s.now, f) - f.grace()
	return age > 3*s.t.Queue && age.Seconds() > 2*(p.wait()+rest) || age > s.t.Stall/2
}

func (s *State) helpWith(p *peer, f *fetch) {
	f.helper = p
	for _, r := range slices.Clone(f.peer.requests) {
		if r.fetch == f && !f.has(r.span) {
			p.addRequest(s.now, f, r.span)
			s.send(p, &proto.Request{Span: r.span})
		}
	}
}
