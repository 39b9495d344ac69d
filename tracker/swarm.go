package tracker

import (
	"container/list"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

// member is a node in one swarm. Its addrs are replaced, never changed, so that
// a handout may be encoded outside of the server's lock.
type member struct {
	id       proto.PeerID
	host     netip.Addr // whom it counts for
	swarm    *swarm
	cluster  *cluster
	addrs    [][]byte
	have     uint32
	total    uint32 // 0 until the member has the manifest
	lastSeen time.Time
	inflow   *inflow       // nil until the member says what it received
	elem     *list.Element // in table.order
}

// info is m in the handouts of other members.
func (m *member) info() proto.Member {
	return proto.Member{ID: m.id, Cluster: m.cluster.name, Addrs: m.addrs}
}

// cluster is the members of a swarm that share a LAN, with running sums of their
// progress.
type cluster struct {
	name string
	// members are sorted by id: a member's rank is its index. A join or a leave
	// moves the pointers behind it, which takes a few microseconds in the largest
	// swarm; an announce moves none.
	members []*member

	whole        uint32 // members that have every piece
	unknownTotal uint32 // members whose total is 0
	missing      uint64 // pieces that the other members lack
	inflow       inflowSum
}

// rank is the index of the member with this id, or where it would be inserted.
func (c *cluster) rank(id proto.PeerID) (int, bool) {
	return slices.BinarySearchFunc(c.members, id, func(m *member, id proto.PeerID) int {
		return strings.Compare(string(m.id), string(id))
	})
}

func (c *cluster) add(m *member) {
	i, _ := c.rank(m.id)
	c.members = slices.Insert(c.members, i, m)
	m.cluster = c
	c.count(m, 1)
}

func (c *cluster) remove(m *member) {
	c.count(m, -1)
	c.inflow.forget(m.inflow)
	m.inflow = nil
	i, _ := c.rank(m.id)
	c.members = slices.Delete(c.members, i, i+1)
}

// count adds m's progress to the sums (sign 1) or subtracts it (sign -1).
func (c *cluster) count(m *member, sign int) {
	switch {
	case m.total == 0:
		c.unknownTotal += uint32(sign)
	case m.have == m.total:
		c.whole += uint32(sign)
	default:
		c.missing += uint64(sign) * uint64(m.total-m.have)
	}
}

// swarm is the members that transfer one content.
type swarm struct {
	key      string     // binary CID
	host     netip.Addr // whose member announced it first
	created  time.Time
	entries  *quota.Quota[netip.Addr]
	members  map[proto.PeerID]*member
	clusters []*cluster // sorted by name, none empty
	total    uint32     // pieces of the content, as last announced; 0 while unknown
}

func makeSwarm(key string, host netip.Addr, created time.Time, members int) *swarm {
	return &swarm{
		key:     key,
		host:    host,
		created: created,
		entries: quota.New[netip.Addr](members),
		members: make(map[proto.PeerID]*member),
	}
}

// find is the index of the cluster of this name, or where it would be inserted.
func (s *swarm) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.clusters, name, func(c *cluster, name string) int {
		return strings.Compare(c.name, name)
	})
}

// cluster returns the cluster of this name, which it creates if necessary.
func (s *swarm) cluster(name string) *cluster {
	i, ok := s.find(name)
	if !ok {
		s.clusters = slices.Insert(s.clusters, i, &cluster{name: name})
	}
	return s.clusters[i]
}

// remove removes m, and its cluster when that becomes empty.
func (s *swarm) remove(m *member) {
	delete(s.members, m.id)
	m.cluster.remove(m)
	if len(m.cluster.members) == 0 {
		i, _ := s.find(m.cluster.name)
		s.clusters = slices.Delete(s.clusters, i, i+1)
	}
}
