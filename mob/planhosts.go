package mob

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// onNamed takes in what a joined peer calls its host.
func (s *State) onNamed(id proto.PeerID, host string) {
	p, n := s.joined[id], s.byID[id]
	if p == nil || n == nil || p.Host == host {
		return
	}
	s.plan.leave(p)
	p.Host, n.Host = host, host
	s.plan.join(p)
}

// join notes a peer by the name of its host. Of several with one name it is the first.
func (k *planned) join(p *peer) {
	if k == nil || p.Host == "" {
		return
	}
	h, ok := k.numbers[p.Host]
	if !ok {
		return
	}
	p.host, p.newsAt = h, k.s.now
	if k.peers[h] == nil {
		k.place(h, p)
	}
	if met := k.neighboursOf(p); len(met) > 0 {
		k.s.do(Introduce{Peer: p.ID, Members: met})
	}
}

// place has a peer stand for a host.
func (k *planned) place(h int, p *peer) {
	k.peers[h] = p
	if !slices.Contains(k.parents, h) {
		return
	}
	p.parent, p.pipe.Deep = true, true
	k.match(p)
	k.s.interestChanged(p)
	k.ReconsiderAll()
}

// leave forgets a peer. Another with the name of its host takes its place.
func (k *planned) leave(p *peer) {
	if k == nil || p.host < 0 || k.peers[p.host] != p {
		return
	}
	h := p.host
	k.peers[h], p.parent, p.pipe.Deep, p.host = nil, false, false, nobody
	for _, q := range k.s.peers {
		if q != p && q.host == h {
			k.place(h, q)
			return
		}
	}
}

// match has the node request of its parents, whatever their ranks.
func (k *planned) match(p *peer) {
	if p.parent {
		p.matched, p.position = true, 0
	}
}

// learn notes a node by the name of its host, as others told it.
func (k *planned) learn(n *node) {
	if k == nil || n.Host == "" {
		return
	}
	if h, ok := k.numbers[n.Host]; ok && slices.Contains(k.neighbours, h) {
		k.nodes[h] = n
		k.s.scheduleConnect()
	}
}

// dial dials the neighbours in the plan that were told of.
func (k *planned) dial() {
	if k == nil {
		return
	}
	for _, h := range k.neighbours {
		if n := k.nodes[h]; n != nil && k.peers[h] == nil && k.s.byID[n.ID] == n {
			k.s.dial(n)
		}
	}
}

// rumours returns the rumours that are neighbours in the plan and have not joined.
func (k *planned) rumours() (rs []*node) {
	if k == nil {
		return nil
	}
	for _, r := range k.s.rumours.byID {
		if h, ok := k.numbers[r.Host]; ok && k.peers[h] == nil && slices.Contains(k.neighbours, h) {
			rs = append(rs, r)
		}
	}
	return rs
}

// neighboursOf lists the members that are neighbours of a peer in the plan, and known by name.
func (k *planned) neighboursOf(p *peer) (members []Node) {
	for _, h := range k.plan.Neighbours(p.host) {
		if q := k.peers[h]; q != nil && q != p && len(members) < gossiped {
			members = append(members, q.Node)
		}
	}
	return members
}
