package swarm

import (
	"sync"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
)

// Totals are the counts of a swarm since its start. None of them decreases.
type Totals struct {
	// Traffic is payload, and Duplicate the received payload that was stored already, in bytes.
	Traffic   payload.Traffic
	Duplicate int64
	// Verified counts received pieces that were valid, and VerifiedBytes their bytes. Bad counts
	// received pieces, coded blocks and generations that were not.
	Verified, VerifiedBytes, Bad int64
	// Damaged counts the stored pieces that turned out to be damaged.
	Damaged int64
	// Stalls counts the times that a peer left requests unanswered.
	Stalls int64
	// Joined and Left count the sessions that started and that ended.
	Joined, Left int64
}

// Add adds the totals of another swarm.
func (t *Totals) Add(u *Totals) {
	t.Traffic.Add(&u.Traffic)
	t.Duplicate += u.Duplicate
	t.Verified += u.Verified
	t.VerifiedBytes += u.VerifiedBytes
	t.Bad += u.Bad
	t.Damaged += u.Damaged
	t.Stalls += u.Stalls
	t.Joined += u.Joined
	t.Left += u.Left
}

// counters are the totals of a swarm except its payload. Safe for concurrent use.
type counters struct {
	mu  sync.Mutex
	sum Totals
}

func (c *counters) add(t Totals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Add(&t)
}

// note counts an event of the codec. A piece that is discarded has no sources.
func (c *counters) note(ev mob.Event) {
	failed, ok := ev.(mob.Failed)
	if _, polluted := ev.(mob.Polluted); polluted || ok && len(failed.Sources) > 0 {
		c.add(Totals{Bad: 1})
	}
}

// countingStore is the store of a codec, which counts the pieces that the codec commits.
type countingStore struct {
	store.Store
	swarm *Swarm
}

func (c countingStore) Commit(piece int) error {
	err := c.Store.Commit(piece)
	if err == nil {
		c.swarm.stored(piece)
		c.swarm.counts.add(Totals{Verified: 1, VerifiedBytes: int64(c.swarm.cfg.Verifier.PieceSize(piece))})
	}
	return err
}

// Totals returns what the swarm has counted. It does not block.
func (s *Swarm) Totals() Totals {
	s.counts.mu.Lock()
	t := s.counts.sum
	s.counts.mu.Unlock()
	t.Traffic, t.Duplicate = s.traffic.Traffic(), s.traffic.Duplicates()
	t.Stalls = s.status.Load().strategy.Stalls
	return t
}

// ClusterStatus is the status of the sessions with a cluster.
type ClusterStatus struct {
	// Peers counts the sessions, and Stalled those with a peer that owes blocks.
	Peers, Stalled int
	// RTT is the longest round trip to one of its peers, and Queue the longest queueing delay of
	// their last pings.
	RTT, Queue time.Duration
}

// BitTorrentCluster is the name under which external peers are counted. No cluster has it.
const BitTorrentCluster = "(bittorrent)"

// AddClusters adds the peers at the last snapshot to clusters.
func (s *Swarm) AddClusters(clusters map[string]ClusterStatus) {
	snap := s.status.Load()
	for i := range snap.strategy.Peers {
		p := &snap.strategy.Peers[i]
		name := p.Cluster
		if p.External {
			name = BitTorrentCluster
		}
		c := clusters[name]
		c.Peers++
		if p.Stalled {
			c.Stalled++
		}
		c.RTT, c.Queue = max(c.RTT, p.RTT), max(c.Queue, p.Queue)
		clusters[name] = c
	}
}
