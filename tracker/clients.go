package tracker

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

// state is the table of a front end. Its lock is held for microseconds, never for I/O.
type state struct {
	sync.Mutex
	table *table
	sampler
}

func (s *state) init(cfg Config) {
	seed := cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	s.table, s.rng = newTable(cfg), rand.New(rand.NewPCG(seed, 0))
}

// jitter returns d with a tenth of jitter to either side, so that members that joined at the same time
// do not stay in step.
func (s *state) jitter(d time.Duration) time.Duration {
	return time.Duration((0.9 + 0.2*s.rng.Float64()) * float64(d))
}

// Clients is the table of a front end for another protocol. A client is in one group of a swarm, and
// has the bounds and the expiry of a member of a [Server]. The methods of Clients may be called from
// any goroutine.
type Clients struct {
	clock func() time.Time
	state state
}

// NewClients returns an empty table.
func NewClients(cfg Config, clock func() time.Time) *Clients {
	c := &Clients{clock: clock}
	c.state.init(cfg)
	return c
}

// Announce adds a client at an address, or moves it to another group. With completed it counts a
// download, unless the client was in that group before. An error is for the client.
func (c *Clients) Announce(swarm, id string, at netip.Addr, group string, completed bool) error {
	c.state.Lock()
	defer c.state.Unlock()
	t, now := c.state.table, c.clock()
	if m := t.member(now, []byte(swarm), proto.PeerID(id)); m != nil && m.cluster.name == group {
		completed = false
	}
	from := origin{id: proto.PeerID(id), host: quota.Host(at)}
	m, err := t.announce(now, from, &proto.Announce{Swarm: []byte(swarm), Cluster: group})
	if err != nil {
		return err
	}
	if completed {
		m.swarm.completed++
	}
	return nil
}

// Leave removes a client.
func (c *Clients) Leave(swarm, id string) {
	c.state.Lock()
	defer c.state.Unlock()
	c.state.table.leave(c.clock(), []byte(swarm), proto.PeerID(id))
}

// Count returns the number of clients in each group of a swarm, nil if it is not known, and the number
// of downloads.
func (c *Clients) Count(swarm string) (groups map[string]int, completed int) {
	c.state.Lock()
	defer c.state.Unlock()
	s := c.state.table.swarm(c.clock(), []byte(swarm))
	if s == nil {
		return nil, 0
	}
	groups = make(map[string]int)
	for g := range s.all() {
		groups[g.name] = g.nodes
	}
	return groups, s.completed
}

// Sample calls yield with clients of a group, in random order, until it returns false.
func (c *Clients) Sample(swarm, group string, yield func(id string) bool) {
	c.state.Lock()
	defer c.state.Unlock()
	s := c.state.table.swarm(c.clock(), []byte(swarm))
	if s == nil {
		return
	}
	g := s.find(group)
	if g == nil {
		return
	}
	order := newSequence(len(g.members), c.state.rng)
	for k := range g.members {
		if !yield(string(g.members[order.at(k)].id)) {
			return
		}
	}
}

// Keep removes the clients of other swarms.
func (c *Clients) Keep(known func(swarm string) bool) {
	c.state.Lock()
	defer c.state.Unlock()
	for key, s := range c.state.table.swarms {
		if known(key) {
			continue
		}
		for _, m := range s.members {
			c.state.table.remove(m)
		}
	}
}

// Interval returns the announce interval of a client.
func (c *Clients) Interval() time.Duration {
	c.state.Lock()
	defer c.state.Unlock()
	return c.state.jitter(c.state.table.cfg.Interval)
}

// Len returns the number of swarms, and of the clients in them.
func (c *Clients) Len() (swarms, clients int) {
	c.state.Lock()
	defer c.state.Unlock()
	return c.state.table.size(c.clock())
}
