package swarm

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// maxComplete bounds the remembered complete nodes, and maxVisits the members that are being visited.
const (
	maxComplete = 1 << 16
	maxVisits   = 1024
)

// completeNodes are the nodes that reported in a session that they have every piece. It is not safe for
// concurrent use.
type completeNodes struct {
	ids      map[proto.PeerID]struct{}
	visited  time.Time
	visiting map[proto.PeerID]bool // members whose visit has not ended
}

// note records the nodes that are complete now. They are remembered when they leave.
func (w *completeNodes) note(st mob.Status) {
	for i := range st.Peers {
		p := &st.Peers[i]
		if !p.External && p.Have == st.Total && len(w.ids) < maxComplete {
			w.ids[p.ID] = struct{}{}
		}
	}
}

// visitEvery is the time between two visits to members without a session.
const visitEvery = 5 * time.Second

// Visit opens sessions with all members that trackers named and the strategy did not choose, so that
// [Status.WholeNodes] counts the complete ones. It does not wait for them.
func (s *Swarm) Visit() { s.post(s.visit) }

func (s *Swarm) visit() {
	if time.Since(s.completeNodes.visited) < visitEvery {
		return
	}
	s.completeNodes.visited = time.Now()
	for id, e := range s.addrs.members {
		_, known := s.completeNodes.ids[id]
		if !known && e.namedBy == "" && s.session(id) == nil && !s.visiting[id] && len(s.visiting) < maxVisits {
			s.visiting[id] = true
			s.dial(id, time.Time{})
		}
	}
}
