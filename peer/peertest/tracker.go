package peertest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// Tracker is a tracker in memory. It sends every node all other members.
type Tracker struct {
	mu      sync.Mutex
	members map[string]map[proto.PeerID]member // by swarm
	names   map[proto.PeerID]string            // of hosts
}

type member struct {
	proto.Member
	complete bool
}

// NewTracker returns a tracker without members.
func NewTracker() *Tracker {
	return &Tracker{members: map[string]map[proto.PeerID]member{}, names: map[proto.PeerID]string{}}
}

// TrackerAddr is the address of every [Tracker], as links show it. It is never dialed.
const TrackerAddr = "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDqsZQiT2g8WmjoumgasA2cXosrVd7SEFWGPWJFoneGbx"

// Start starts a node that uses the tracker.
func (d *Tracker) Start(t testing.TB, cluster string, opts ...Option) *peer.Node {
	t.Helper()
	return start(t, 0, cluster, append(opts, d.option))
}

func (d *Tracker) option(s *setup) {
	s.cfg.Finder = func(h host.Host, _ []ma.Multiaddr) peer.Finder { return &client{d, proto.PeerID(h.ID())} }
	s.cfg.Trackers = []ma.Multiaddr{ma.StringCast(TrackerAddr)}
}

// Add adds a member to the swarms of a link, which need not exist.
func (d *Tracker) Add(link *proto.Link, m proto.Member) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range link.Keys() {
		d.swarm(key.Bytes())[m.ID] = member{Member: m}
	}
}

// swarm returns the members of a swarm. The caller has the lock.
func (d *Tracker) swarm(key []byte) map[proto.PeerID]member {
	if d.members[string(key)] == nil {
		d.members[string(key)] = map[proto.PeerID]member{}
	}
	return d.members[string(key)]
}

// client is the client of a tracker at one node.
type client struct {
	tracker *Tracker
	self    proto.PeerID
}

// Announce implements [peer.Finder].
func (c *client) Announce(_ context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	swarm := c.tracker.swarm(a.Swarm)
	h := &proto.AnnounceReply{Interval: 30}
	if a.Leaving {
		delete(swarm, c.self)
		return h, nil
	}
	for id, m := range swarm {
		if id != c.self {
			h.Members = append(h.Members, m.Member)
		}
	}
	swarm[c.self] = member{proto.Member{ID: c.self, Cluster: a.Cluster, Addrs: a.Addrs}, a.Have == a.Total && a.Total > 0}
	return h, nil
}

// Scrape counts the members of a swarm, each in a separate entry.
func (c *client) Scrape(ctx context.Context, swarm []byte) (*proto.Scrape, error) {
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	s := &proto.Scrape{}
	for _, m := range c.tracker.members[string(swarm)] {
		of := proto.ScrapeCluster{Name: m.Cluster, Nodes: 1}
		if m.complete {
			of.Whole = 1
		}
		s.Clusters = append(s.Clusters, of)
	}
	return s, ctx.Err()
}

// Hosts implements [peer.Finder].
func (c *client) Hosts(_ context.Context, req *proto.HostsRequest) (found []proto.Host, err error) {
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	c.tracker.names[c.self] = req.Name
	for id, m := range c.tracker.members[string(req.Swarm)] {
		if name := c.tracker.names[id]; id != c.self && slices.Contains(req.Wanted, name) {
			found = append(found, proto.Host{Name: name, ID: id, Cluster: m.Cluster, Addrs: m.Addrs})
		}
	}
	return found, nil
}

// Close implements [peer.Finder].
func (c *client) Close() error { return nil }
