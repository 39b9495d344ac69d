package tracker

import (
	"container/list"
	"time"

	"github.com/mobgrid/mob/proto"
)

// table is the members of all swarms. It has no clock and no lock: the caller
// passes the time and serialises the calls.
//
// All members expire after the same time without an announce, so one list in
// the order of announces has the next to expire at its front, and a call costs
// only what it expires.
type table struct {
	cfg    Config
	swarms map[string]*swarm
	order  *list.List // of *member, least recently announced first
	now    time.Time  // the latest time passed in: it never goes back
}

func newTable(cfg Config) *table {
	return &table{cfg: cfg, swarms: make(map[string]*swarm), order: list.New()}
}

// members counts the members of all swarms, a node once per swarm.
func (t *table) members() int { return t.order.Len() }

// announce adds or updates the member id as a says, with addrs in place of a's.
// A known member is always accepted, a new one within the limits.
func (t *table) announce(
	now time.Time, id proto.PeerID, a *proto.Announce, addrs [][]byte,
) (*member, *proto.RemoteError) {
	t.expire(now)
	s := t.swarms[string(a.Swarm)]
	var m *member
	if s != nil {
		m = s.members[id]
	}
	if err := t.checkLimits(s, m, a.Cluster); err != nil {
		return nil, err
	}
	if s == nil {
		s = &swarm{key: string(a.Swarm), created: t.now, members: make(map[proto.PeerID]*member)}
		t.swarms[s.key] = s
	}
	if a.Total != 0 {
		s.total = a.Total
	}
	if m == nil {
		m = &member{id: id, swarm: s, have: a.Have, total: a.Total}
		m.elem = t.order.PushBack(m)
		s.members[id] = m
		s.cluster(a.Cluster).add(m)
	} else {
		t.order.MoveToBack(m.elem)
		t.update(m, a)
	}
	m.addrs, m.lastSeen = addrs, t.now
	return m, nil
}

// update sets the cluster and the progress of a known member.
func (t *table) update(m *member, a *proto.Announce) {
	if m.cluster.name == a.Cluster {
		m.cluster.count(m, -1)
		m.have, m.total = a.Have, a.Total
		m.cluster.count(m, 1)
		return
	}
	m.swarm.remove(m)
	m.have, m.total = a.Have, a.Total
	m.swarm.members[m.id] = m
	m.swarm.cluster(a.Cluster).add(m)
}

// checkLimits reports which limit keeps a member out of a cluster of s. A swarm or
// member that is not known yet is nil.
func (t *table) checkLimits(s *swarm, m *member, cluster string) *proto.RemoteError {
	if m == nil && t.members() >= t.cfg.MaxMembers {
		return busy("the tracker has reached its limit of members")
	}
	if s == nil {
		if len(t.swarms) >= t.cfg.MaxSwarms {
			return busy("the tracker has reached its limit of swarms")
		}
		return nil
	}
	if m == nil && len(s.members) >= t.cfg.MaxSwarmMembers {
		return busy("the swarm has reached its limit of members")
	}
	// A Fleet must fit its message.
	if _, known := s.find(cluster); !known && len(s.clusters) >= proto.MaxClusters {
		return busy("the swarm has reached its limit of clusters")
	}
	return nil
}

func busy(text string) *proto.RemoteError {
	return &proto.RemoteError{Code: proto.CodeBusy, Text: text}
}

// leave removes the member id from a swarm, if it is known.
func (t *table) leave(now time.Time, key []byte, id proto.PeerID) {
	t.expire(now)
	if s := t.swarms[string(key)]; s != nil {
		if m := s.members[id]; m != nil {
			t.remove(m)
		}
	}
}

// fleet is the progress of a swarm, nil if it is not known.
func (t *table) fleet(now time.Time, key []byte) *proto.Fleet {
	t.expire(now)
	s := t.swarms[string(key)]
	if s == nil {
		return nil
	}
	f := &proto.Fleet{Clusters: make([]proto.FleetCluster, len(s.clusters))}
	for i, c := range s.clusters {
		f.Clusters[i] = proto.FleetCluster{
			Name:  c.name,
			Nodes: uint32(len(c.members)),
			Whole: c.whole,
			// A member without the manifest lacks every piece.
			Missing: c.missing + uint64(c.unknownTotal)*uint64(s.total),
		}
	}
	return f
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
	m.swarm.remove(m)
	if len(m.swarm.members) == 0 {
		delete(t.swarms, m.swarm.key)
	}
}
