package permutation

import (
	"maps"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

const (
	// retry is the first pause before a member that could not be reached is dialled
	// again; it doubles up to maxRetry, and after maxFails the member is forgotten.
	retry    = time.Second
	maxRetry = 30 * time.Second
	maxFails = 8
)

// member is another node of the cluster.
type member struct {
	mob.Node
	joined   bool
	complete *bitset.Set   // the generations that it needs no more of
	plain    []*bitset.Set // by generation: the plain blocks that it announced, nil for none

	dialing bool
	pause   time.Duration // before the next dial
	retryAt time.Time
	fails   int // since it last joined
}

// known lists the members that are known, in the order of their ids.
func (s *State) known() []proto.PeerID { return slices.Sorted(maps.Keys(s.members)) }

// member returns the member that a node of the cluster is, new or known; nil if there are
// too many.
func (s *State) member(n mob.Node) *member {
	m := s.members[n.ID]
	if m == nil && len(s.members) < proto.MaxMembers-1 {
		m = &member{Node: n, complete: bitset.New(len(s.generations))}
		s.members[n.ID] = m
	}
	return m
}

// learned takes in nodes that others told of, and dials them.
func (s *State) learned(nodes []mob.Node) {
	for _, n := range nodes {
		if proto.SharedParts(n.Cluster, s.cfg.Cluster) > 0 && n.ID != s.cfg.Self && !n.External {
			s.member(n)
		}
	}
	s.dialAll()
}

// dialAll dials the members that are not connected.
func (s *State) dialAll() {
	for _, id := range s.known() {
		if m := s.members[id]; !m.joined && !m.dialing && !s.now.Before(m.retryAt) {
			m.dialing = true
			s.do(mob.Dial{Peer: id})
		}
	}
}

// forgetOne forgets a member that has not joined, if there is one.
func (s *State) forgetOne() bool {
	for _, id := range s.known() {
		if !s.members[id].joined {
			delete(s.members, id)
			return true
		}
	}
	return false
}

// Excluded is the reason that a node of another site is refused with.
func Excluded(cluster string) string {
	return "permutation gossip stays within cluster " + proto.ClusterGroup(cluster, 1) +
		": have the content seeded without --strategy"
}

// join begins the conversation with a peer.
func (s *State) join(ev mob.Joined) {
	if proto.SharedParts(ev.Cluster, s.cfg.Cluster) == 0 {
		s.do(mob.Drop{Peer: ev.ID, Code: proto.CodeExcluded, Why: Excluded(s.cfg.Cluster)})
		return
	}
	if ev.ID == s.cfg.Self {
		return
	}
	m := s.member(ev.Node)
	if m == nil && s.forgetOne() {
		m = s.member(ev.Node) // one that is there displaces one that was only told of
	}
	if m == nil {
		s.do(mob.Drop{Peer: ev.ID, Code: proto.CodeBusy, Why: "too many members"})
		return
	}
	if m.joined {
		return
	}
	m.joined, m.dialing, m.pause, m.fails = true, false, 0, 0
	m.plain = make([]*bitset.Set, len(s.generations))
	m.complete.Clear()
	if ev.Whole {
		m.complete.AddRange(0, m.complete.Cap())
	}
	if enough := s.enough(); len(enough) > 0 { // Hello may be older, and does not have those that are being decoded
		s.send(ev.ID, &proto.Decoded{Generations: enough})
	}
	s.introduce(ev.ID)
	if place, ok := s.topology.Place(ev.ID); ok {
		s.places[place] = m
		s.addNeeds(m, place, 1)
		if s.drawn.by == s.cfg.Self { // an earlier session may have lost them
			p := s.drawn.Permutation
			s.send(ev.ID, &p)
		}
	}
	s.membersChanged()
}

// introduce tells a newcomer of the joined members, for it to dial them.
func (s *State) introduce(id proto.PeerID) {
	var others []mob.Node
	for _, other := range s.known() {
		if m := s.members[other]; m.joined && other != id {
			others = append(others, m.Node)
		}
	}
	if len(others) > 0 {
		s.do(mob.Introduce{Peer: id, Members: others})
	}
}

// leave ends the conversation with a peer. Blocks in transit to it are lost.
func (s *State) leave(id proto.PeerID) {
	m := s.members[id]
	if m == nil || !m.joined {
		return
	}
	m.joined = false
	s.postpone(m)
	if place, ok := s.topology.Place(id); ok {
		s.places[place] = nil
		s.addNeeds(m, place, -1)
	}
	if s.leaving == m {
		s.leaving = nil
	}
	s.forget(m)
	s.push()
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
