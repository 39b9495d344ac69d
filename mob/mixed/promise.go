package mixed

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// member is another one of the mob, as it told of itself.
type member struct {
	claims, have *pieceset.Set
	heard        time.Time // when it last said anything
	told         bool      // it has heard news, and what was promised by then
	round        uint64    // of the last ping that it answered
	silent       bool      // it let one wait for too long
}

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

// ponged notes that a member has heard of what was promised by then.
func (s *State) ponged(id proto.PeerID, nonce uint64) {
	if o := s.members[id]; o != nil && nonce&mark != 0 && nonce&^mark <= s.round {
		o.round, o.silent, s.stale = max(o.round, nonce&^mark), false, true
	}
}

// answered says whether the members have answered the pings of a round, but for those that
// are silent; that are from now on, if it is late, those that have not.
func (s *State) answered(round uint64, late bool) bool {
	all := true
	for _, o := range s.members {
		if o.told && !o.silent && o.round < round {
			o.silent = late
			all = false
		}
	}
	return all
}

// check lets claims of members lapse that are silent, gives back what no far peer has any
// more, and lets the node's own promises lapse when nothing that was promised has come over
// the WAN, or nothing at all, for so long that others had better see to it. The State may
// ask for anything then. What comes over the LAN meanwhile does not keep a promise: others
// wait for it.
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
	if !slices.ContainsFunc(s.under, s.lacking) {
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

// available says whether a far peer has something that the node lacks.
func (s *State) available() bool {
	for g := s.first; g < len(s.gens); g++ {
		if !s.gens[g].whole && s.there(g) {
			return true
		}
	}
	return false
}

// silence forgets what a member claims.
func (s *State) silence(o *member) {
	o.claims.Each(func(i int) { s.claims[i]-- })
	o.claims.Clear()
	s.stale = true
}

// tell sends a message to the members. Who has not heard any news yet hears of what is
// promised with the first.
func (s *State) tell(m proto.Message) {
	for _, id := range sorted(s.members) {
		if s.members[id].told {
			s.out = append(s.out, mob.Send{Peer: id, Message: m})
		}
	}
}

// said is what a member is told in place of news of the State's, which claims single
// blocks. When it drops one the promise is given again.
func (s *State) said(o *member, m *proto.Have) *proto.Have {
	first := !o.told
	o.told = true
	if !s.mixed {
		return m
	}
	told := *m
	if told.Claim = nil; first {
		told.Claim = s.promised.Ranges()
		return &told
	}
	pieceset.Each(m.Drop, s.promised.Cap(), func(i int) {
		if s.promised.Has(i) {
			told.Claim = pieceset.Append(told.Claim, i)
		}
	})
	return &told
}

// heardMember takes in what a member tells, and returns what the State is to hear of it.
// What it claims while its news and ours cross is its own if it has the lesser id; else it
// takes that back.
func (s *State) heardMember(id proto.PeerID, o *member, m *proto.Have) *proto.Have {
	n := s.promised.Cap()
	told := &proto.Have{Have: m.Have, Drop: m.Drop, Left: m.Left}
	var lost []proto.Range
	pieceset.Each(m.Drop, n, func(i int) {
		s.unclaim(o, i)
		if o.have.Remove(i) {
			s.holders[i]--
		}
	})
	pieceset.Each(m.Claim, n, func(i int) {
		if s.promised.Has(i) {
			if s.cfg.Self < id {
				return
			}
			s.promised.Remove(i)
			lost = pieceset.Append(lost, i)
		}
		if !o.have.Has(i) && o.claims.Add(i) {
			s.claims[i]++
		}
		if !s.shut(i) {
			told.Claim = pieceset.Append(told.Claim, i)
		}
	})
	pieceset.Each(m.Have, n, func(i int) {
		s.unclaim(o, i)
		if o.have.Add(i) {
			s.holders[i]++
		}
	})
	s.stale = true
	s.takeBack(lost)
	return told
}

func (s *State) unclaim(o *member, i int) {
	if o.claims.Remove(i) {
		s.claims[i]--
	}
}
