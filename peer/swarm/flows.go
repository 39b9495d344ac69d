package swarm

import (
	"sync"
	"time"
)

const (
	// maxFlows bounds the sockets to one peer where one TCP flow cannot fill the path: its
	// window is bounded, and after a loss grows by a packet per round trip.
	maxFlows = 4
	// maxLossyFlows bounds them where the path loses packets, and the kernel has only congestion
	// control that reduces the window at each loss. The peer may have as many, and each a stream.
	maxLossyFlows = maxChannels/2 - 1
	// flowTrial is the least duration of a trial of more flows, worthwhile the least ratio of the new rate
	// to the old one, and flowRest the pause after a trial that failed.
	flowTrial  = 500 * time.Millisecond
	worthwhile = 1.1
	flowRest   = 8 * time.Second
)

// flows bounds the servers of a session that send. The remaining ones rest, with their sockets. It is safe
// for concurrent use.
type flows struct {
	mu      sync.Mutex
	changed sync.Cond
	allowed int
	started int // servers, which run until the session ends
	closed  bool
	growth  flowGrowth
}

func newFlows() *flows {
	f := &flows{allowed: 1, started: 1}
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

// grow adds a sample of a server, and sets the number of servers that send.
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

// start returns the servers that may send and were not started yet: first to end-1. The caller starts them.
func (f *flows) start() (first, end int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, f.started = f.started, max(f.started, f.allowed)
	return first, f.started
}

func (f *flows) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
}

// flowSample has the statistics of a server since its last sample.
type flowSample struct {
	acked  uint64        // bytes that arrived
	busy   time.Duration // time during which the socket had data to send
	queued bool          // the path has a queue
	trip   time.Duration // the shortest
}

// flowGrowth finds out how many flows are worthwhile on a path that loses packets without a queue. Each
// has a rate that depends on losses and round trip. The number doubles while all are busy, the path has
// no queue and the rate grows, and is reduced when there is a queue: then the path is the limit. The zero
// value is ready for use.
type flowGrowth struct {
	flows  int
	fewer  int       // flows before the current trial, 0 if there is none
	before float64   // bytes per second before the trial
	rest   time.Time // end of the pause between trials

	// The current interval.
	since           time.Time
	acked           uint64
	busy            time.Duration // of all flows together
	samples, queued int
}

// add adds a sample of a server, and returns the new number of flows.
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
