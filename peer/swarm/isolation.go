package swarm

import (
	"errors"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Isolation reports that a node reaches no other member of its site, although a tracker named some. Its
// JSON is an interface for scripts.
type Isolation struct {
	Cluster string `json:"cluster"` // the site: the first part of the name of the node's cluster
	Known   int    `json:"known"`   // members of it
	Err     string `json:"error"`   // of the last dial
}

const (
	// isolatedAfter is the least time without a session in which a node is isolated.
	isolatedAfter = 5 * time.Second
	// maxSiteFails is the limit of failed dials of a member. Beyond it the member is forgotten, unless a tracker
	// names it again.
	maxSiteFails = 8
)

// siteReach tracks which members of the own site can be reached. Members that only a peer named do not
// count: it may invent them. It is not safe for concurrent use.
type siteReach struct {
	site     string
	fails    map[proto.PeerID]int // failed dials of the members without a session
	sessions int
	alone    time.Time // when the last session ended, or the first member was named
	err      error     // of the last failed dial since the last session started or ended, nil for none
	logged   bool
}

func newSiteReach(cluster string) siteReach {
	return siteReach{site: proto.ClusterGroup(cluster, 1), fails: map[proto.PeerID]int{}}
}

func (r *siteReach) named(id proto.PeerID, now time.Time) {
	if _, known := r.fails[id]; known || len(r.fails) >= maxMembers {
		return
	}
	if len(r.fails) == 0 {
		r.alone = now
	}
	r.fails[id] = 0
}

func (r *siteReach) joined(id proto.PeerID) {
	delete(r.fails, id)
	r.sessions++
	r.err, r.logged = nil, false
}

// left records the end of a session. The member may have left the swarm.
func (r *siteReach) left(now time.Time) {
	r.sessions--
	r.alone, r.err = now, nil
}

// failed records a failed dial. A member that answered was reached.
func (r *siteReach) failed(id proto.PeerID, err error) {
	n, known := r.fails[id]
	if !known {
		return
	}
	var answer *proto.RemoteError
	if n++; errors.As(err, &answer) || n > maxSiteFails {
		delete(r.fails, id)
		return
	}
	r.fails[id], r.err = n, err
}

// isolation returns the isolation of the node, nil if it is not isolated.
func (r *siteReach) isolation(now time.Time) *Isolation {
	if r.sessions > 0 || len(r.fails) == 0 || r.err == nil || now.Sub(r.alone) < isolatedAfter {
		return nil
	}
	return &Isolation{Cluster: r.site, Known: len(r.fails), Err: r.err.Error()}
}

// judgeIsolation returns the isolation of a node that fetches, and logs it once. A node that is
// complete keeps the last one until it reaches a member.
func (s *Swarm) judgeIsolation(now time.Time) *Isolation {
	if s.cfg.UploadOnly || s.Complete() && !s.site.logged {
		return nil
	}
	i := s.site.isolation(now)
	if i != nil && !s.site.logged {
		s.site.logged = true
		s.log.Warn("no member of the own cluster can be reached: everything comes over the WAN",
			"cluster", i.Cluster, "known", i.Known, "error", s.site.err)
	}
	return i
}

// Isolation returns the isolation of the node at the last snapshot, nil if it is not isolated.
func (s *Swarm) Isolation() *Isolation {
	return s.status.Load().isolation
}
