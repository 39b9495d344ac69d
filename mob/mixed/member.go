package mixed

import (
	"time"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// member is another one of the mob, as it told of itself.
type member struct {
	claims, have *pieceset.Set
	heard        time.Time // when it last said anything
	sated        bool      // it wishes to hear of nothing
	told         bool      // it has heard news, and what was promised by then; never if it is sated
	round        uint64    // of the last ping that it answered
	silent       bool      // it let one wait for too long
}

// ponged notes that a member has heard of what was promised by then.
func (s *State) ponged(id proto.PeerID, nonce uint64) {
	if o := s.members[id]; o != nil && nonce&mark != 0 && nonce&^mark <= s.round {
		o.round, o.silent, s.stale = max(o.round, nonce&^mark), false, true
	}
}

// answered says whether the members have answered the pings of a round, but for those that
// are silent.
func (s *State) answered(round uint64) bool {
	for _, o := range s.members {
		if o.awaited(round) {
			return false
		}
	}
	return true
}

// markSilent notes who has not: it is not waited for again before it answers.
func (s *State) markSilent(round uint64) {
	for _, o := range s.members {
		if o.awaited(round) {
			o.silent = true
		}
	}
}

// awaited says whether a member is to answer the ping of a round.
func (o *member) awaited(round uint64) bool {
	return o.told && !o.silent && o.round < round
}

// wants notes whether a member wishes to hear of anything. The State answers with news: who
// has begun to wish for some hears with it of what is promised.
func (s *State) wants(id proto.PeerID, m *proto.Want) {
	if o := s.members[id]; o != nil {
		o.sated, s.stale = len(m.Pieces) == 0, true
	}
}

// said is what a member is told in place of news of the State's, which claims single
// blocks. When it drops one the promise is given again.
func (s *State) said(o *member, m *proto.Have) *proto.Have {
	first := !o.told
	o.told = !o.sated
	if !s.mixed {
		return m
	}
	told := *m
	told.Claim = nil
	switch {
	case o.sated:
	case first:
		told.Claim = s.promised.Ranges()
	default:
		pieceset.Each(m.Drop, s.promised.Cap(), func(i int) {
			if s.promised.Has(i) {
				told.Claim = pieceset.Append(told.Claim, i)
			}
		})
	}
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
		if !s.shut(s.of(i)) {
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

// silence forgets what a member claims.
func (s *State) silence(o *member) {
	o.claims.Each(func(i int) { s.claims[i]-- })
	o.claims.Clear()
	s.stale = true
}

// unclaim forgets that a member claims a block.
func (s *State) unclaim(o *member, i int) {
	if o.claims.Remove(i) {
		s.claims[i]--
	}
}
