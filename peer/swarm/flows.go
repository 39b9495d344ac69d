package swarm

import (
	"iter"
	"sync"
	"time"
)

const (
	// maxFlows is how many sockets send to one peer where one TCP flow cannot fill the
	// path: its window is bounded, and after a loss grows by a packet per round trip.
	maxFlows = 4
	// maxLossyFlows is how many do at most where the path loses packets, and the kernel has nothing
	// better than a window that each loss makes smaller. The peer may have as many, and each a stream.
	maxLossyFlows = maxChannels/2 - 1
	// flowTrial is the least time in which more flows are to show their worth, worthwhile how many times
	// the rate must be what it was, and flowRest the pause before another trial if it was not.
	flowTrial  = 500 * time.Millisecond
	worthwhile = 1.1
	flowRest   = 8 * time.Second
)

// flows is how many servers of a session send. Those beyond it rest, with their sockets. It is safe for
// concurrent use.
type flows struct {
	mu      sync.Mutex
	changed sync.Cond
	allowed int
	running [maxLossyFlows]bool // by server, counted from 0
	retry   time.Time           // before that none is started
	closed  bool
	growth  flowGrowth
}

func newFlows() *flows {
	f := &flows{allowed: 1, running: [maxLossyFlows]bool{0: true}}
	f.changed.L = &f.mu
	return f
}

// await waits until a server, counted from 0, may send. It reports false after the end of the session.
func (f *flows) await(server int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for server >= f.allowed && !f.closed {
		f.changed.Wait()
	}
	return !f.closed
}

// atLeast has n servers send if they are fewer.
func (f *flows) atLeast(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.allow(max(f.allowed, n))
}

// grow takes in what a server has seen, and has as many send as that is worth.
func (f *flows) grow(now time.Time, s flowSample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.allow(f.growth.add(now, s))
}

// allow has n servers send. The caller holds the lock.
func (f *flows) allow(n int) {
	if n != f.allowed {
		f.allowed = n
		f.changed.Broadcast()
	}
}

// start yields the numbers of servers to be started.
func (f *flows) start(now time.Time) iter.Seq[int] {
	return func(yield func(int) bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if now.Before(f.retry) {
			return
		}
		for server := range f.allowed {
			if f.running[server] {
				continue
			}
			f.running[server] = true
			if !yield(server) {
				return
			}
		}
	}
}

// failed notes that a server could not be started, and none is to be until a time.
func (f *flows) failed(server int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[server] = false
	f.retry = until
}

// close ends await for good.
func (f *flows) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
}

// flowSample is what a server has seen since its last.
type flowSample struct {
	acked  uint64        // bytes that arrived
	busy   time.Duration // for which the socket had something to send
	queued bool          // the path has a queue
	trip   time.Duration // the shortest
}

// flowGrowth finds out how many flows are worthwhile on a path that loses packets without a queue. Each
// has a rate that depends on losses and round trip. So there are twice as many while all are busy and
// the path has no queue, as long as they carry more, and fewer again when there is a queue: then the
// path limits them, which others may share. The zero value has seen nothing.
type flowGrowth struct {
	flows  int
	fewer  int       // flows before the trial under way, 0 if there is none
	before float64   // bytes per second with those
	rest   time.Time // until when there is no trial

	// The current interval.
	since           time.Time
	acked           uint64
	busy            time.Duration // of all flows together
	samples, queued int
}

// add takes in what a server has seen, and returns how many flows there are to be.
func (g *flowGrowth) add(now time.Time, s flowSample) int {
	if g.flows == 0 {
		g.flows, g.since = maxFlows, now
	}
	g.samples++
	g.acked += s.acked
	g.busy += s.busy
	if s.queued {
		g.queued++
	}
	if now.Sub(g.since) >= max(flowTrial, 8*s.trip) {
		g.decide(now)
	}
	return g.flows
}

// decide ends the interval.
func (g *flowGrowth) decide(now time.Time) {
	rate := float64(g.acked) / now.Sub(g.since).Seconds()
	switch {
	case g.fewer > 0 && rate < worthwhile*g.before:
		g.flows, g.fewer, g.rest = g.fewer, 0, now.Add(flowRest)
	case 2*g.queued > g.samples:
		g.flows, g.fewer = max(g.flows-g.flows/4, maxFlows), 0
	case g.flows == maxLossyFlows || now.Before(g.rest) || g.busy < 2*now.Sub(g.since)*time.Duration(g.flows)/3:
		g.fewer = 0
	default:
		g.flows, g.fewer, g.before = min(2*g.flows, maxLossyFlows), g.flows, rate
	}
	g.since, g.acked, g.busy, g.samples, g.queued = now, 0, 0, 0, 0
}
