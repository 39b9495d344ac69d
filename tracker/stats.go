package tracker

import (
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// Stats are the counters of a tracker for monitoring.
type Stats struct {
	Swarms, Members       int // now; a node counts once in each swarm
	MaxSwarms, MaxMembers int
	// Requests counts all requests since the start. Busy counts rejections because a table was full, Unknown
	// requests for an unknown swarm, and Invalid requests that are malformed or not for a tracker.
	Requests, Busy, Unknown, Invalid int64
	// Overloaded counts streams that were reset because of MaxStreams.
	Overloaded int64
}

// counts are the counters of a tracker. Safe for concurrent use.
type counts struct{ requests, busy, unknown, invalid, overloaded atomic.Int64 }

func (c *counts) reject(code proto.Code) {
	switch code {
	case proto.CodeBusy:
		c.busy.Add(1)
	case proto.CodeUnknownSwarm:
		c.unknown.Add(1)
	default:
		c.invalid.Add(1)
	}
}

// Stats returns the counters of the tracker.
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
	st.Swarms, st.Members = s.state.table.size(s.clock())
	return st
}
