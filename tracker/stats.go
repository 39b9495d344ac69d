package tracker

import (
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// Stats are the figures of a tracker for monitoring.
type Stats struct {
	Swarms, Members       int // now; a node counts once in each swarm
	MaxSwarms, MaxMembers int
	// Requests counts the requests since the start. The others are part of it: Busy those that were
	// refused because a table was full, Unknown those about a swarm that the tracker does not know,
	// and Invalid those that could not be read or were not for a tracker.
	Requests, Busy, Unknown, Invalid int64
	// Overloaded counts the requests that were not read, since as many were under way as may be.
	Overloaded int64
}

// counts are the counters of a tracker. Safe for concurrent use.
type counts struct{ requests, busy, unknown, invalid, overloaded atomic.Int64 }

// refuse counts a refusal.
func (c *counts) refuse(code proto.Code) {
	switch code {
	case proto.CodeBusy:
		c.busy.Add(1)
	case proto.CodeUnknownSwarm:
		c.unknown.Add(1)
	default:
		c.invalid.Add(1)
	}
}

// Stats returns the figures of the tracker.
func (s *Server) Stats() Stats {
	st := Stats{
		MaxSwarms:  s.cfg.MaxSwarms,
		MaxMembers: s.cfg.MaxMembers,
		Requests:   s.counts.requests.Load(),
		Busy:       s.counts.busy.Load(),
		Unknown:    s.counts.unknown.Load(),
		Invalid:    s.counts.invalid.Load(),
		Overloaded: s.counts.overloaded.Load(),
	}
	s.state.Lock()
	defer s.state.Unlock()
	s.state.table.expire(s.clock())
	st.Swarms, st.Members = len(s.state.table.swarms), s.state.table.members()
	return st
}
