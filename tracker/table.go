package tracker

import (
	"container/list"
	"net/netip"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

// table is the members of all swarms. It has no clock and no lock: the caller
// passes the time and serializes the calls.
//
// All members expire after the same time without an announce, so one list in
// the order of announces has the next to expire at its front, and a call costs
// only what it expires.
//
// An address may have as many swarms, members and links as are free.
type table struct {
	cfg    Config
	swarms map[string]*swarm
	order  *list.List // of *member, least recently announced first
	now    time.Time  // the latest time passed in: it never goes back

	created *quota.Quota[netip.Addr] // swarms, by who announced them first
	entries *quota.Quota[netip.Addr] // members
	links   *quota.Quota[netip.Addr] // of all swarms
}

func newTable(cfg Config) *table {
	return &table{
		cfg:    cfg,
		swarms: make(map[string]*swarm),
		order:  list.New(),

		created: quota.New[netip.Addr](cfg.MaxSwarms),
		entries: quota.New[netip.Addr](cfg.MaxMembers),
		links:   quota.New[netip.Addr](maxLinks),
	}
}

// size returns the number of swarms and of their members, a node once per swarm.
func (t *table) size(now time.Time) (swarms, members int) {
	t.expire(now)
	return len(t.swarms), t.order.Len()
}

func (t *table) swarm(now time.Time, key []byte) *swarm {
	t.expire(now)
	return t.swarms[string(key)]
}

func (t *table) member(now time.Time, key []byte, id proto.PeerID) *member {
	if s := t.swarm(now, key); s != nil {
		return s.members[id]
	}
	return nil
}

// origin is the sender of an announce.
type origin struct {
	id    proto.PeerID
	addrs [][]byte   // instead of the announce's
	host  netip.Addr // the host that it is charged to
	// getOnly is set if the member may not seed new transfers in its network.
	getOnly bool
}

// announce adds or updates the member that announces a. A known member is always
// accepted, a new one within the limits.
func (t *table) announce(now time.Time, from origin, a *proto.Announce) (*member, error) {
	m := t.member(now, a.Swarm, from.id)
	s := t.swarms[string(a.Swarm)]
	// A Scrape of the sites must fit its message.
	if s != nil && len(s.root.subs) >= proto.MaxClusters && s.find(proto.ClusterGroup(a.Cluster, 1)) == nil {
		return nil, busy("the swarm has reached its limit of clusters")
	}
	if m == nil {
		var err error
		if m, err = t.join(s, from, a); err != nil {
			return nil, err
		}
	} else {
		t.order.MoveToBack(m.elem)
		t.update(m, a)
	}
	if a.Total != 0 {
		m.swarm.total = a.Total
	}
	m.addrs, m.lastSeen = from.addrs, t.now
	return m, nil
}

// join adds a member to a swarm, which is nil if it is not known.
func (t *table) join(s *swarm, from origin, a *proto.Announce) (*member, error) {
	if s == nil && from.getOnly && a.Total != 0 && a.Have == a.Total {
		return nil, &proto.RemoteError{Code: proto.CodeExcluded, Text: "no other node has announced this content, " +
			"and the certificate of the node does not have the role seed"}
	}
	if !t.entries.Take(from.host) {
		return nil, busy("the tracker has reached its limit of members, or of those at one address")
	}
	if s == nil {
		if !t.created.Take(from.host) {
			t.entries.Release(from.host)
			return nil, busy("the tracker has reached its limit of swarms, or of those from one address")
		}
		s = makeSwarm(string(a.Swarm), from.host, t.now, t.cfg.MaxSwarmMembers)
		t.swarms[s.key] = s
	}
	if !s.entries.Take(from.host) {
		t.entries.Release(from.host)
		return nil, busy("the swarm has reached its limit of members, or of those at one address")
	}
	m := &member{id: from.id, host: from.host, swarm: s, have: a.Have, total: a.Total}
	m.elem = t.order.PushBack(m)
	s.add(m, a.Cluster)
	return m, nil
}

func (t *table) update(m *member, a *proto.Announce) {
	if m.cluster.name == a.Cluster {
		m.cluster.count(m, -1)
		m.have, m.total = a.Have, a.Total
		m.cluster.count(m, 1)
		return
	}
	before := m.cluster.name
	m.swarm.remove(m)
	m.have, m.total = a.Have, a.Total
	m.swarm.add(m, a.Cluster)
	t.forgetLinks(m.swarm, before)
}

func busy(text string) error {
	return &proto.RemoteError{Code: proto.CodeBusy, Text: text}
}

func (t *table) leave(now time.Time, key []byte, id proto.PeerID) {
	if m := t.member(now, key, id); m != nil {
		t.remove(m)
	}
}

// scrape is the progress of a swarm, nil if it is not known. Where clusters are too many for a message
// they are added up by the first parts of their names.
func (t *table) scrape(now time.Time, key []byte) *proto.Scrape {
	s := t.swarm(now, key)
	if s == nil {
		return nil
	}
	for parts := proto.MaxClusterParts; ; parts-- {
		if f := (&proto.Scrape{Clusters: s.scrape(parts)}); len(f.Clusters) <= proto.MaxClusters {
			return f
		}
	}
}

func (s *swarm) scrape(parts int) (out []proto.ScrapeCluster) {
	for c := range s.all() {
		name := proto.ClusterGroup(c.name, parts)
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, proto.ScrapeCluster{Name: name})
		}
		f := &out[len(out)-1]
		f.Nodes += uint32(c.nodes)
		f.Whole += c.complete
		f.Missing += s.missing(c)
	}
	return out
}

// expire removes the members that have not announced for Expiry.
func (t *table) expire(now time.Time) {
	if now.After(t.now) {
		t.now = now
	}
	for e := t.order.Front(); e != nil; e = t.order.Front() {
		m := e.Value.(*member)
		if t.now.Sub(m.lastSeen) < t.cfg.Expiry {
			return
		}
		t.remove(m)
	}
}

func (t *table) remove(m *member) {
	t.order.Remove(m.elem)
	t.entries.Release(m.host)
	m.swarm.entries.Release(m.host)
	m.swarm.setName(m, "")
	m.swarm.remove(m)
	t.forgetLinks(m.swarm, m.cluster.name)
	if len(m.swarm.members) == 0 {
		delete(t.swarms, m.swarm.key)
		t.created.Release(m.swarm.host)
	}
}
