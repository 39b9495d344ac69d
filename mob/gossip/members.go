package gossip

import (
	"maps"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

const (
	// retry is the first pause before a member that could not be reached is dialled
	// again; it doubles up to maxRetry, and after maxFails the member is forgotten.
	retry    = time.Second
	maxRetry = 30 * time.Second
	maxFails = 8
)

// ids lists the members that are known, in their order.
func (s *State) ids() []proto.PeerID { return slices.Sorted(maps.Keys(s.members)) }

// meet is what is known of a node of the cluster, from now on; nil if that is too much.
func (s *State) meet(n mob.Node) *member {
	m := s.members[n.ID]
	if m == nil && len(s.members) < proto.MaxMembers-1 {
		m = &member{Node: n, decoded: pieceset.New(len(s.cfg.Blocks))}
		s.members[n.ID] = m
	}
	return m
}

// learned takes in nodes that others told of, and dials them.
func (s *State) learned(nodes []mob.Node) {
	for _, n := range nodes {
		if n.Cluster == s.cfg.Cluster && n.ID != s.cfg.Self && !n.Guest {
			s.meet(n)
		}
	}
	s.dialAll()
}

// dialAll dials the members that are not connected.
func (s *State) dialAll() {
	for _, id := range s.ids() {
		if m := s.members[id]; !m.joined && !m.dialing && !s.now.Before(m.retryAt) {
			m.dialing = true
			s.do(mob.Dial{Peer: id})
		}
	}
}

// Abroad says to a node of another cluster that it has no part in the swarm of this one.
func Abroad(cluster string) string {
	return "the content goes round by permutations in the cluster " + cluster + " alone: have it seeded without --strategy"
}

// join begins the conversation with a peer.
func (s *State) join(ev mob.Joined) {
	if ev.Cluster != s.cfg.Cluster {
		s.do(mob.Drop{Peer: ev.ID, Code: proto.CodeExcluded, Why: Abroad(s.cfg.Cluster)})
		return
	}
	m := s.meet(ev.Node)
	if m == nil {
		s.do(mob.Drop{Peer: ev.ID, Code: proto.CodeBusy, Why: "too many members"})
		return
	}
	m.joined, m.dialing, m.pause, m.fails = true, false, 0, 0
	m.decoded.Clear()
	if ev.Whole {
		m.decoded.AddRange(0, m.decoded.Cap())
	}
	if s.have.Len() > 0 { // Hello may be older
		s.send(ev.ID, &proto.Decoded{Generations: s.have.Ranges()})
	}
	s.introduce(ev.ID)
	s.step(permutation.Joined{Peer: ev.ID, Decoded: list(m.decoded)})
	s.membersChanged()
}

// introduce tells a newcomer of those who are there. It dials them.
func (s *State) introduce(id proto.PeerID) {
	var others []mob.Node
	for _, other := range s.ids() {
		if m := s.members[other]; m.joined && other != id {
			others = append(others, m.Node)
		}
	}
	if len(others) > 0 {
		s.do(mob.Introduce{Peer: id, Members: others})
	}
}

// leave ends it.
func (s *State) leave(id proto.PeerID) {
	m := s.members[id]
	if m == nil || !m.joined {
		return
	}
	m.joined = false
	s.postpone(m)
	s.step(permutation.Left{Peer: id})
	s.membersChanged()
}

func (s *State) unreachable(id proto.PeerID) {
	if m := s.members[id]; m != nil && !m.joined {
		s.postpone(m)
	}
}

// postpone puts the next dial of a member off, or forgets it.
func (s *State) postpone(m *member) {
	m.dialing = false
	m.pause = min(max(2*m.pause, retry), maxRetry)
	m.retryAt = s.now.Add(m.pause)
	if m.fails++; m.fails > maxFails {
		delete(s.members, m.ID)
	}
}

// list is a set as a list.
func list(set *pieceset.Set) (all []int) {
	set.Each(func(i int) { all = append(all, i) })
	return all
}
