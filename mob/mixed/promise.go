package mixed

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

const (
	// hearing is how long members may take to hear of a promise.
	hearing = time.Second
	// mark tells the nonces of pings that follow a promise from those of a [mob.State],
	// which are times.
	mark = 1 << 63
)

// promise tells the members what will come from here: all of the generations that were
// begun, but for what a member has or claims.
func (s *State) promise() {
	if s.promised.Len() == 0 {
		s.moved = s.now
	}
	var fresh []proto.Range
	for _, g := range s.under {
		for i, end := s.source(g); i < end; i++ {
			if s.holders[i] == 0 && s.claims[i] == 0 && s.promised.Add(i) {
				fresh = pieceset.Append(fresh, i)
			}
		}
	}
	if len(fresh) > 0 {
		s.tell(&proto.Have{Claim: fresh})
		s.round++
		s.tell(&proto.Ping{Nonce: mark | s.round})
	}
}

// check lets claims of members lapse that are silent, gives back what no far peer has any
// more, and lets the node's own promises lapse when nothing comes, or nothing over the WAN
// though the mob lacks what was promised, for so long that others had better see to it. The
// State may ask for anything then.
func (s *State) check() {
	long := 2 * s.cfg.Tuning.Stall
	for _, o := range s.members {
		if s.now.Sub(o.heard) > long && o.claims.Len() > 0 {
			s.silence(o)
		}
	}
	for _, g := range slices.Clone(s.under) {
		if !s.there(g) {
			s.giveBack(g)
		}
	}
	if s.moved.IsZero() || s.first == len(s.gens) || !s.available() {
		s.moved = s.now
	}
	if !slices.ContainsFunc(s.under, s.lacking) || s.coming() {
		s.fetched = s.now
	}
	if s.lapsed || s.now.Sub(s.moved) < long && s.now.Sub(s.fetched) < long {
		return
	}
	s.lapsed, s.openAt = true, time.Time{}
	s.takeBack(s.promised.Ranges())
	s.promised.Clear()
	s.ungate()
}

// takeBack tells the members that blocks are not promised any more. Those that are here
// already they may have all the same.
func (s *State) takeBack(rs []proto.Range) {
	m := &proto.Have{Drop: rs}
	pieceset.Each(rs, s.promised.Cap(), func(i int) {
		if s.State.Has(i) {
			m.Have = pieceset.Append(m.Have, i)
		}
	})
	if len(rs) > 0 {
		s.tell(m)
	}
}

// coming says whether a far peer is at work, though a block may take long.
func (s *State) coming() bool {
	return slices.ContainsFunc(s.State.Status().Peers, func(p mob.PeerStatus) bool {
		return !p.Local && p.InFlight > 0 && !p.Stalled
	})
}

// available says whether a far peer has something that the node lacks.
func (s *State) available() bool {
	for g := s.first; g < len(s.gens); g++ {
		if !s.gens[g].whole && s.there(g) {
			return true
		}
	}
	return false
}

// tell sends a message to the members that have heard news. The others hear of what is
// promised with the first.
func (s *State) tell(m proto.Message) {
	for _, id := range sorted(s.members) {
		if s.members[id].told {
			s.out = append(s.out, mob.Send{Peer: id, Message: m})
		}
	}
}
