package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// In a planned swarm nodes find their parents by the names of hosts. A node sends its name to trackers and
// to peers that follow a plan, and forwards the names that it knows. Names are hints: all pieces are
// verified.

func (s *Swarm) sendName(c *session) {
	if c.named {
		c.conn.send(&proto.Hosts{Hosts: []proto.Host{{Name: s.cfg.Name, ID: s.self, Cluster: s.cfg.Cluster}}})
	}
}

// receiveHosts records the names of hosts that a peer sent: its own, and names of other members.
func (c *nodePeer) receiveHosts(hosts []proto.Host) {
	if !c.named {
		return
	}
	var others []proto.Host
	for _, h := range hosts {
		if h.ID == c.ID() {
			c.swarm.Post(mob.Named{Peer: h.ID, Host: h.Name}, c.session)
			continue
		}
		others = append(others, h)
	}
	if len(others) > 0 {
		c.swarm.post(func() { c.swarm.onUnverified(c, others) })
	}
}

// findHosts asks the trackers for the hosts next to the node in the plan, and sends them its own name.
// It blocks for seconds at most.
func (s *Swarm) findHosts() {
	p := s.cfg.Plan
	if p == nil || p.Index(s.cfg.Name) < 0 {
		return
	}
	var wanted []string
	for _, h := range p.Neighbors(p.Index(s.cfg.Name)) {
		wanted = append(wanted, p.Hosts[h])
	}
	found, err := metadata.Hosts(s.ctx, s.cfg.Finder, s.cfg.Link.Keys()[0], s.cfg.Name, wanted)
	if err != nil {
		s.log.Debug("no tracker knows hosts by their names", "error", err)
	}
	if len(found) > 0 {
		s.post(func() { s.onMembers(found) })
	}
}

func unnamed(members []proto.Member) []proto.Host {
	hosts := make([]proto.Host, len(members))
	for i, m := range members {
		hosts[i] = proto.Host{ID: m.ID, Cluster: m.Cluster, Addrs: m.Addrs}
	}
	return hosts
}
