package swarm

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/peer/transport"
)

const (
	// lossInterval is the least time in which losses are counted. One interval with losses and no queue is
	// enough for a lossy path: where losses are rare, a second one would be late.
	lossInterval = 60 * time.Millisecond
	// nearInterval is the time between two samples of a path that is not long.
	nearInterval = 2 * time.Second
	// lossWindow bounds the age of losses and queues that count.
	lossWindow = 4 * time.Second
	// mostLosses bounds the intervals with losses that count.
	mostLosses = 16
	// enoughLosses is the least number of intervals with losses and a queue that was not full. The queue
	// may have been at its longest for less time than an interval.
	enoughLosses = 3
	// noQueue is added to 5/4 of the shortest round trip for the longest one on a path without a queue:
	// hosts wait for timers, and for each other.
	noQueue = 5 * time.Millisecond
)

// route has the losses and queues of the network path to a cluster, of all sockets that send there. It is
// safe for concurrent use.
type route struct {
	mu       sync.Mutex
	losses   []pathSample // of the last lossWindow, oldest first
	queues   []pathSample // of the same time: each is longer than all later ones
	loses    bool         // packets without a queue, or with one that is not full
	rejected atomic.Bool  // the kernel does not allow rateBased there
}

// pathSample is a measurement of a path by one socket in an interval.
type pathSample struct {
	end   time.Time
	queue time.Duration // the round trip less the shortest
	none  bool          // there was no queue
	lost  bool          // packets were lost
}

// add adds a sample. A full queue loses packets when it is longest. So if there was no queue in most intervals
// with losses, or less than two thirds of the longest one, the path itself loses packets.
func (r *route) add(s pathSample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := func(q pathSample) bool { return s.end.Sub(q.end) > lossWindow }
	r.queues = slices.DeleteFunc(r.queues, func(q pathSample) bool { return old(q) || q.queue <= s.queue })
	r.queues = append(r.queues, s)
	r.losses = slices.DeleteFunc(r.losses, old)
	if s.lost {
		r.losses = append(r.losses, s)
	}
	r.losses = r.losses[max(0, len(r.losses)-mostLosses):]
	var none, short int
	for _, l := range r.losses {
		switch {
		case l.none:
			none++
		case 3*l.queue < 2*r.queues[0].queue:
			short++
		}
	}
	switch full := len(r.losses) - none - short; {
	case full > 0 && full >= none+short:
		r.loses = false
	case none > 0 || short >= enoughLosses:
		r.loses = true
	}
}

// lossy reports whether the path loses packets without a full queue. Loss-based congestion control is slow
// there: its rate depends on loss and round trip, and not on the link.
func (r *route) lossy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.loses
}

// routes has the routes to all clusters. It is safe for concurrent use.
type routes struct {
	mu        sync.Mutex
	byCluster map[string]*route // bounded: peers choose the names
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

// lossMeter finds losses in the kernel's statistics of a socket. The zero value is ready for use.
type lossMeter struct {
	last transport.Path
	at   time.Time
}

// add adds the current statistics, and returns a sample at the end of an interval. It does so for long paths
// only: on a short one a sender recovers immediately.
func (m *lossMeter) add(now time.Time, p transport.Path) (s pathSample, ended bool) {
	if p.MinRTT < longPath {
		return s, false
	}
	if m.at.IsZero() {
		m.last, m.at = p, now
	}
	if now.Sub(m.at) < max(lossInterval, p.MinRTT) {
		return s, false
	}
	s = pathSample{
		end:   now,
		queue: max(p.RTT-p.MinRTT, m.last.RTT-m.last.MinRTT),
		none:  !hasQueue(p) && !hasQueue(m.last),
		lost:  p.Lost != m.last.Lost,
	}
	m.last, m.at = p, now
	return s, true
}

// hasQueue reports whether a path has a queue now.
func hasQueue(p transport.Path) bool { return p.RTT > p.MinRTT+p.MinRTT/4+noQueue }
