package swarm

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/transport"
)

const (
	// lossInterval is the least time in which losses are counted. One with losses and no queue says
	// that the path loses packets: where losses are rare, a second comes when most has been sent.
	lossInterval = 60 * time.Millisecond
	// nearInterval is the time between two looks at a path that is not long. It will hardly become so.
	nearInterval = 2 * time.Second
	// mostFull bounds how many intervals with losses and a queue count against that.
	mostFull = 4
	// noQueue is how much longer than the shortest a round trip may be on a path without a queue,
	// besides a fourth of the shortest: hosts wait for timers, and for each other.
	noQueue = 5 * time.Millisecond
)

// route is what the node has learnt of the network path to a cluster, on all sockets that send there. It is
// safe for concurrent use.
type route struct {
	mu      sync.Mutex
	score   int         // intervals with losses but no queue, less those with losses and a queue
	refused atomic.Bool // the kernel does not allow rateBased there
}

// lossy takes in what an interval of a socket says, see [lossMeter], and reports whether the path loses
// packets without a queue. A sender that takes each loss for a full queue is slow there: its rate
// depends on loss and round trip, and not on the link.
func (r *route) lossy(sign int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.score = max(r.score+sign, -mostFull)
	return r.score > 0
}

// routes are those to all clusters. They are safe for concurrent use.
type routes struct {
	mu        sync.Mutex
	byCluster map[string]*route // the first of them: names are what peers say
}

// maxRoutes bounds the clusters that are told apart by name.
const maxRoutes = 1024

// of returns the route to a cluster, or a new one for a peer without a cluster.
func (s *routes) of(cluster string) *route {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.byCluster[cluster]
	if w == nil {
		w = new(route)
		if cluster != "" && len(s.byCluster) < maxRoutes {
			if s.byCluster == nil {
				s.byCluster = map[string]*route{}
			}
			s.byCluster[cluster] = w
		}
	}
	return w
}

// lossMeter looks for losses without a queue, by what the kernel says of a socket from time to time. The
// zero meter has seen nothing.
type lossMeter struct {
	last transport.Path
	at   time.Time
}

// add takes in what the kernel says now. At the end of an interval it returns 1 if packets were lost
// without a queue and -1 if some were lost with one, and otherwise 0. It does so for long paths only: on
// a short one a sender recovers at once.
func (m *lossMeter) add(now time.Time, p transport.Path) (sign int) {
	if p.MinRTT < longPath {
		return 0
	}
	if m.at.IsZero() {
		m.last, m.at = p, now
	}
	if now.Sub(m.at) < max(lossInterval, p.MinRTT) {
		return 0
	}
	switch {
	case p.Lost == m.last.Lost:
	case hasQueue(p) || hasQueue(m.last):
		sign = -1
	default:
		sign = 1
	}
	m.last, m.at = p, now
	return sign
}

// hasQueue reports whether a path has a queue now.
func hasQueue(p transport.Path) bool { return p.RTT > p.MinRTT+p.MinRTT/4+noQueue }
