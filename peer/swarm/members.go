package swarm

import (
	"net/netip"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

// onMembers passes members that a tracker named to the strategy, and records their addresses.
func (s *Swarm) onMembers(hosts []proto.Host) {
	nodes := make([]mob.Node, 0, len(hosts))
	for i := range hosts {
		if h := &hosts[i]; s.isOther(h.ID) {
			s.addrs.add(netip.Addr{}, h.ID, h.Addrs)
			if len(s.addrs.of(h.ID)) > 0 { // as many as the book holds, see dropped
				s.byTracker.Store(h.ID, true)
			}
			if proto.SharedParts(h.Cluster, s.cfg.Cluster) > 0 && s.session(h.ID) == nil {
				s.site.named(h.ID, time.Now())
			}
			nodes = append(nodes, mob.Node{ID: h.ID, Cluster: h.Cluster, Host: h.Name})
		}
	}
	s.step(mob.Learned{Nodes: nodes})
}

func (s *Swarm) onUnverified(from *nodePeer, hosts []proto.Host) {
	if s.session(from.ID()) != from.session {
		return // it was dropped
	}
	nodes := make([]mob.Node, 0, len(hosts))
	for i := range hosts {
		h := &hosts[i]
		if !s.isOther(h.ID) {
			continue
		}
		news := s.addrs.addUnverified(from.ID(), h.ID, reach.FromPeer(h.Addrs, from.remoteIP()))
		if news || h.Name != "" && len(s.addrs.of(h.ID)) > 0 {
			nodes = append(nodes, mob.Node{ID: h.ID, Cluster: h.Cluster, Host: h.Name})
		}
	}
	s.step(mob.Learned{Nodes: nodes, Hearsay: true})
}

// isOther reports whether an id is a valid one of another node.
func (s *Swarm) isOther(id proto.PeerID) bool {
	_, err := libpeer.IDFromBytes([]byte(id))
	return err == nil && id != s.self
}

func (s *Swarm) introduce(a mob.Introduce) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	members := make([]proto.Member, 0, len(a.Members))
	var hosts []proto.Host
	for _, n := range a.Members {
		addrs := s.addrs.of(n.ID)
		switch {
		case len(addrs) == 0:
		case n.Host != "" && c.named:
			hosts = append(hosts, proto.Host{Name: n.Host, ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		default:
			members = append(members, proto.Member{ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		}
	}
	c.conn.send(&proto.Members{Members: members})
	if len(hosts) > 0 {
		c.conn.send(&proto.Hosts{Hosts: hosts})
	}
}

func (s *Swarm) onUnreachable(id proto.PeerID, err error) {
	delete(s.visiting, id)
	s.addrs.forget(id)
	s.site.failed(id, err)
	s.step(mob.Unreachable{Peer: id})
}

// Knows implements [payload.Swarm]. For another node the trackers are asked for members, at most once in
// announceRetry.
func (s *Swarm) Knows(id proto.PeerID) bool {
	if s.namedByTracker(id) || id == s.self || s.session(id) != nil {
		return true
	}
	now, last := time.Now().UnixNano(), s.askedAt.Load()
	if now-last >= int64(announceRetry) && s.askedAt.CompareAndSwap(last, now) {
		s.AnnounceSoon()
	}
	return false
}

func (s *Swarm) namedByTracker(id proto.PeerID) bool {
	_, ok := s.byTracker.Load(id)
	return ok
}
