package tracker

import (
	"container/list"
	"time"

	"github.com/mobgrid/mob/proto"
)

// table is who is where: swarm, cluster, member. It computes only: the time is
// passed in, and the caller serialises the calls.
//
// All members expire after the same time without an announce, so one list in
// the order of announces holds the next to expire at its front, and an announce
// pays for what it evicts and nothing else.
type table struct {
	cfg    Config
	swarms map[string]*swarm
	order  *list.List // of *member, least recently announced first
	now    time.Time  // latest time passed in: time does not run backwards here
}

func newTable(cfg Config) *table {
	return &table{cfg: cfg, swarms: make(map[string]*swarm), order: list.New()}
}

// members counts the members of all swarms, a node once per swarm.
func (t *table) members() int { return t.order.Len() }

// announce remembers the member id as a says, with addrs in place of a's. Known
// members are always taken, new ones while the limits allow; the error is what
// to answer.
func (t *table) announce(now time.Time, id proto.PeerID, a *proto.Announce, addrs [][]byte) (*member, *proto.RemoteError) {
	t.expire(now)
	s := t.swarms[string(a.Swarm)]
	var m *member
	if s != nil {
		m = s.members[id]
	}
	if err := t.room(s, m, a.Cluster); err != nil {
		return nil, err
	}
	if s == nil {
		s = &swarm{key: string(a.Swarm), born: t.now, members: make(map[proto.PeerID]*member)}
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
	m.addrs, m.seen = addrs, t.now
	return m, nil
}

// update brings a known member's cluster and progress up to date.
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

// room reports which limit keeps a member out of a cluster of s. Nil s or m mean
// that they are not known yet.
func (t *table) room(s *swarm, m *member, cluster string) *proto.RemoteError {
	if m == nil && t.members() >= t.cfg.MaxMembers {
		return busy("the tracker knows as many members as it may")
	}
	if s == nil {
		if len(t.swarms) >= t.cfg.MaxSwarms {
			return busy("the tracker knows as many swarms as it may")
		}
		return nil
	}
	if m == nil && len(s.members) >= t.cfg.MaxSwarmMembers {
		return busy("the swarm has as many members as the tracker may know")
	}
	// A fleet must fit its message.
	if _, known := s.find(cluster); !known && len(s.clusters) >= proto.MaxClusters {
		return busy("the swarm has as many clusters as the tracker may know")
	}
	return nil
}

func busy(text string) *proto.RemoteError {
	return &proto.RemoteError{Code: proto.CodeBusy, Text: text}
}

// leave forgets the member id of a swarm, if it is known.
func (t *table) leave(now time.Time, key []byte, id proto.PeerID) {
	t.expire(now)
	if s := t.swarms[string(key)]; s != nil {
		if m := s.members[id]; m != nil {
			t.drop(m)
		}
	}
}

// fleet is the progress of a swarm, nil for one that is not known.
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
			// Who does not know the content yet lacks all of it.
			Missing: c.missing + uint64(c.blind)*uint64(s.total),
		}
	}
	return f
}

// expire drops the members that have not announced for too long.
func (t *table) expire(now time.Time) {
	if now.After(t.now) {
		t.now = now
	}
	for e := t.order.Front(); e != nil; e = t.order.Front() {
		m := e.Value.(*member)
		if t.now.Sub(m.seen) < t.cfg.Expiry {
			return
		}
		t.drop(m)
	}
}

func (t *table) drop(m *member) {
	t.order.Remove(m.elem)
	m.swarm.remove(m)
	if len(m.swarm.members) == 0 {
		delete(t.swarms, m.swarm.key)
	}
}
