package peer

import (
	"context"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Scope is the set of nodes that [Transfer.WaitAll] waits for.
type Scope int

// Scopes, from the smallest to the largest.
const (
	Cluster Scope = iota // nodes with this node's cluster name
	Site                 // nodes whose cluster names share the first part
	Swarm                // all nodes
)

const (
	// idleTimeout is the longest time that a complete node serves incomplete nodes without a request.
	idleTimeout = 10 * time.Second
	// reconnectTimeout is the time for a node to connect again, if no tracker knows whether it is complete.
	reconnectTimeout = 3 * time.Second
	// observeEvery is the interval between looks at the sessions, and scrapeEvery between requests to the
	// trackers, which have half of it to answer.
	observeEvery = 100 * time.Millisecond
	scrapeEvery  = 2 * time.Second
)

// linger has the facts about the other nodes in a scope: sessions with nodes that fetch, and with nodes that do not;
// the nodes and complete nodes that trackers know, this node among them unless a tracker was restarted.
type linger struct {
	sessions, done, nodes, complete int
	sent                            int64 // bytes
	// The last increase of sent, the last time that a node was incomplete, and the last scrape. Zero for never.
	served, waited, scraped time.Time
}

// incomplete returns the number of nodes that still fetch. Trackers count a node that has only what it selected as
// incomplete, and complete nodes may have no session.
func (l *linger) incomplete() int {
	others := l.nodes - min(1, l.complete) // if none is complete, the trackers do not know this node
	return max(l.sessions, min(l.nodes-l.complete, others-l.done))
}

// over reports whether the node may leave.
func (l *linger) over(now time.Time) bool {
	connected := l.nodes > 0 || now.Sub(l.waited) >= reconnectTimeout
	return l.incomplete() == 0 && connected || now.Sub(l.served) >= idleTimeout
}

// WaitAll waits until this node and every other node in scope that trackers count have the content, or all that they
// selected. Without trackers these are the nodes with a session. It also returns nil once no node of the site, or for Swarm
// no node, has requested a block for 10 seconds. Nodes that have not announced themselves by then cannot be waited for. It
// fails if the transfer ends.
func (t *Transfer) WaitAll(ctx context.Context, scope Scope) error {
	if err := t.Wait(ctx); err != nil {
		return err
	}
	l := linger{served: time.Now()}
	for {
		began := time.Now()
		err := l.observe(ctx, t, scope)
		if err == nil && l.over(time.Now()) && l.scraped.Before(began) {
			l.scraped = time.Time{} // nodes may have announced themselves since
			err = l.observe(ctx, t, scope)
		}
		if err != nil || l.over(time.Now()) {
			return err
		}
		select {
		case <-time.After(observeEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Incomplete returns the number of nodes that [Transfer.WaitAll] waits for.
func (t *Transfer) Incomplete(ctx context.Context, scope Scope) int {
	var l linger
	_ = l.observe(ctx, t, scope)
	return l.incomplete()
}

// observe updates the facts about the other nodes of a transfer. It fails if that or ctx has ended.
func (l *linger) observe(ctx context.Context, t *Transfer, scope Scope) error {
	s, own := t.state(), t.node.cfg.Cluster
	if s.swarm == nil {
		return s.err
	}
	// shared is the number of first parts that the names of clusters in scope share with own.
	shared := [...]int{Cluster: proto.ClusterParts(own), Site: 1, Swarm: 0}[scope]
	if time.Since(l.scraped) >= scrapeEvery {
		l.nodes, l.complete, l.scraped = 0, 0, time.Now()
		for _, c := range s.scrape(ctx).Clusters {
			if proto.SharedParts(own, c.Name) >= shared {
				l.nodes, l.complete = l.nodes+int(c.Nodes), l.complete+int(c.Whole)
			}
		}
		if s.rec.LeftOut.Pieces > 0 && l.nodes > 0 { // trackers count this node as incomplete
			l.complete++
		}
	}
	l.sessions, l.done = 0, 0
	for _, p := range s.swarm.Peers() {
		near := proto.SharedParts(own, p.Cluster)
		switch {
		case p.Client != "" || near < shared:
		case p.Done || p.Have == s.desc.Manifest().Pieces():
			l.done++
		case near > 0 || l.nodes == 0: // a remote node does not announce all that it has: if trackers answer, they count it
			l.sessions++
		}
	}
	if l.incomplete() > 0 {
		l.waited = time.Now()
	}
	traffic := s.swarm.Totals().Traffic
	sent := [...]int64{Cluster: traffic.LANOut, Site: traffic.LANOut, Swarm: traffic.LANOut + traffic.WANOut}[scope]
	if sent > l.sent {
		l.sent, l.served = sent, time.Now()
	}
	return ctx.Err() // the trackers may not have had the time to answer
}

// scraper is a [Finder] that also counts the nodes of a swarm.
type scraper interface {
	Scrape(ctx context.Context, swarm []byte) (*proto.Scrape, error)
}

// scrape returns the reply of the trackers, once these know that this node is complete. It is empty if no tracker
// answers.
func (s *state) scrape(ctx context.Context) *proto.Scrape {
	ctx, cancel := context.WithTimeout(ctx, scrapeEvery/2)
	defer cancel()
	if trackers, ok := s.run.finder.(*linkFinder); ok && s.swarm.AwaitAnnounced(ctx) {
		if client, ok := trackers.current().(scraper); ok {
			if reply, err := client.Scrape(ctx, s.rec.Link.Keys()[0].Bytes()); err == nil {
				return reply
			}
		}
	}
	return &proto.Scrape{}
}
