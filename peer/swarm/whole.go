package swarm

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// maxWhole bounds the nodes that are remembered to be whole.
const maxWhole = 1 << 16

// wholeNodes are the nodes that said in a session that they have every piece. It is not safe for
// concurrent use.
type wholeNodes struct {
	ids     map[proto.PeerID]struct{}
	visited time.Time
}

func newWholeNodes() wholeNodes { return wholeNodes{ids: map[proto.PeerID]struct{}{}} }

// note notes the nodes that are whole now. They are remembered when they leave.
func (w *wholeNodes) note(st mob.Status) {
	for i := range st.Peers {
		p := &st.Peers[i]
		if !p.External && p.Have == st.Total && len(w.ids) < maxWhole {
			w.ids[p.ID] = struct{}{}
		}
	}
}

// visitEvery is the time between two visits to members without a session.
const visitEvery = 5 * time.Second

// visit asks for visits.
type visit struct{}

// apply opens sessions with members that a tracker named, and that the strategy did not choose, to
// hear from themselves whether they are whole.
func (visit) apply(s *Swarm) {
	if time.Since(s.wholeNodes.visited) < visitEvery {
		return
	}
	s.wholeNodes.visited = time.Now()
	for id, e := range s.addrs.members {
		if _, known := s.wholeNodes.ids[id]; !known && e.teller == "" && s.session(id) == nil {
			s.dial(id, time.Time{})
		}
	}
}

// Visit opens sessions with all members that trackers named, so that [Status.Whole] counts those
// that are whole. It does not wait for them.
func (s *Swarm) Visit() { s.post(visit{}) }
