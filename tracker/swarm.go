package tracker

import (
	"container/list"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

// member is a node in one swarm. Its addrs are replaced, never changed, so that
// a reply may be encoded outside of the server's lock.
type member struct {
	id       proto.PeerID
	host     netip.Addr // the host that it is charged to
	swarm    *swarm
	cluster  *group
	addrs    [][]byte
	have     uint32
	total    uint32 // 0 until the member has the manifest
	lastSeen time.Time
	name     string        // of its host, empty unless it said one
	ingress  *ingress      // nil until the member reports it
	elem     *list.Element // in table.order
}

func (m *member) info() proto.Member {
	return proto.Member{ID: m.id, Cluster: m.cluster.name, Addrs: m.addrs}
}

// group is the members of a swarm whose clusters' names begin with the same parts: a site, or a part
// of one. It is a cluster itself if it has nodes, which are its members except the members of its subs.
type group struct {
	name   string
	parent *group   // of one part less
	subs   []*group // of one part more, sorted by name, none empty
	// members are sorted by id: a member's rank is its index. A join or a leave
	// moves the pointers behind it, which takes a few microseconds in the largest
	// swarm; an announce moves none.
	members []*member

	// Of the cluster, without the subs.
	nodes        int
	complete     uint32 // members that have every piece
	unknownTotal uint32 // members whose total is 0
	missing      uint64 // pieces that the remaining members need
}

// rank is the index of the member with this id, or where it would be inserted.
func (g *group) rank(id proto.PeerID) (int, bool) {
	return slices.BinarySearchFunc(g.members, id, func(m *member, id proto.PeerID) int {
		return strings.Compare(string(m.id), string(id))
	})
}

// sub is the index of the sub of this name, or where it would be inserted.
func (g *group) sub(name string) (int, bool) {
	return slices.BinarySearchFunc(g.subs, name, func(sub *group, name string) int {
		return strings.Compare(sub.name, name)
	})
}

// count adds m's progress to the sums (sign 1) or subtracts it (sign -1).
func (g *group) count(m *member, sign int) {
	switch {
	case m.total == 0:
		g.unknownTotal += uint32(sign)
	case m.have == m.total:
		g.complete += uint32(sign)
	default:
		g.missing += uint64(sign) * uint64(m.total-m.have)
	}
}

type swarm struct {
	key        string     // binary CID
	host       netip.Addr // whose member announced it first
	created    time.Time
	entries    *quota.Quota[netip.Addr]
	members    map[proto.PeerID]*member
	named      map[string]*member  // by the names of their hosts
	root       group               // above the sites, without members in itself
	clusters   int                 // groups that have nodes
	completed  int                 // downloads of clients, see [Clients.Announce]
	total      uint32              // pieces of the content, as last announced; 0 while unknown
	links      map[direction]*link // what members measured
	linkShares *quota.Quota[netip.Addr]
	topology   func() *proto.Topology // of topologyAt; nil until it is requested
	topologyAt time.Time
}

func makeSwarm(key string, host netip.Addr, created time.Time, members int) *swarm {
	return &swarm{
		key:        key,
		host:       host,
		created:    created,
		entries:    quota.New[netip.Addr](members),
		members:    make(map[proto.PeerID]*member),
		named:      make(map[string]*member),
		links:      make(map[direction]*link),
		linkShares: quota.New[netip.Addr](maxSwarmLinks),
	}
}

// all returns the clusters, sorted by group.
func (s *swarm) all() iter.Seq[*group] {
	return func(yield func(*group) bool) { s.root.walk(yield) }
}

func (g *group) walk(yield func(*group) bool) bool {
	if g.nodes > 0 && !yield(g) {
		return false
	}
	for _, sub := range g.subs {
		if !sub.walk(yield) {
			return false
		}
	}
	return true
}

// find returns the group of this name, nil if it is not there.
func (s *swarm) find(name string) *group {
	g := &s.root
	for parts := 1; g.name != name; parts++ {
		i, ok := g.sub(proto.ClusterGroup(name, parts))
		if !ok {
			return nil
		}
		g = g.subs[i]
	}
	return g
}

// add adds m to a cluster, which is created if necessary.
func (s *swarm) add(m *member, cluster string) {
	s.members[m.id] = m
	g := &s.root
	for parts := 1; g.name != cluster; parts++ {
		name := proto.ClusterGroup(cluster, parts)
		i, ok := g.sub(name)
		if !ok {
			g.subs = slices.Insert(g.subs, i, &group{name: name, parent: g})
		}
		g = g.subs[i]
		at, _ := g.rank(m.id)
		g.members = slices.Insert(g.members, at, m)
	}
	m.cluster = g
	if g.nodes++; g.nodes == 1 {
		s.clusters++
	}
	g.count(m, 1)
}

func (s *swarm) remove(m *member) {
	delete(s.members, m.id)
	c := m.cluster
	c.count(m, -1)
	m.ingress = nil
	if c.nodes--; c.nodes == 0 {
		s.clusters--
	}
	for g := c; g.parent != nil; g = g.parent {
		i, _ := g.rank(m.id)
		g.members = slices.Delete(g.members, i, i+1)
		if len(g.members) == 0 {
			i, _ = g.parent.sub(g.name)
			g.parent.subs = slices.Delete(g.parent.subs, i, i+1)
		}
	}
}
