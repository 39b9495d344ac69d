package mob

import (
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/proto"
)

// node is a member that the node was told of. It counts in ranks and shares while it is alive:
// joined and not silent, or not yet found to be unreachable.
type node struct {
	Node
	shared  int   // parts of its cluster's name that it shares with the own
	peer    *peer // nil unless joined
	dialing bool
	silent  bool // see conduct.Peer
	failed  bool // its stream ended or its dial failed since it last joined
	// awaited, if not 0, says that the node was cut off and waits for the member, and how many of its
	// sessions may yet end without a word; stale that the dial under way began before. See reunite.
	awaited int
	stale   bool
	retryAt time.Time
	pause   time.Duration // before the next dial
	fails   int           // since it last joined and announced what it has
	*conduct.Record
}

func (n *node) alive() bool { return n.peer != nil && !n.silent || n.peer == nil && !n.failed }

// onLearned takes in members that a tracker told of. One that failed, and is in another cluster now,
// is a new one.
func (s *State) onLearned(nodes []Node) {
	s.heardOfMembers, s.membersChanged = true, true
	var changed []string
	for _, nd := range nodes {
		if nd.ID == s.cfg.Self || !s.admits(nd.Cluster) {
			continue
		}
		n := s.byID[nd.ID]
		switch {
		case n == nil && len(s.byID) >= maxNodes:
		case n == nil:
			_, trying := s.rumours.remove(nd.ID)
			n = s.addNode(nd)
			s.learnHost(n)
			n.dialing = trying
			changed = appendNew(changed, nd.Cluster)
			if n.shared > 0 {
				s.settled = s.now.Add(s.t.Settle)
			}
		case n.failed && n.peer == nil && n.Cluster != nd.Cluster:
			changed = appendNew(appendNew(changed, n.Cluster), nd.Cluster)
			s.addNode(nd)
		case nd.Host != "" && n.peer == nil:
			n.Host = nd.Host
			s.learnHost(n)
		}
	}
	if len(changed) > 0 {
		s.updateRank(changed...)
		s.dialSite()
	}
}

func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

const (
	// maxNodes bounds the members that a node remembers.
	maxNodes = 50_000
	// maxFails is after how many failures in a row a member is forgotten: at the default pauses
	// after two minutes, when a tracker has stopped to hand it out.
	maxFails = 8
)

// addNode adds a member, or moves it to another cluster.
func (s *State) addNode(nd Node) *node {
	n := &node{Node: nd, shared: proto.SharedParts(nd.Cluster, s.cfg.Cluster), Record: new(conduct.Record)}
	if old := s.byID[nd.ID]; old != nil {
		s.removeNode(old)
		n.Record = old.Record
	}
	s.byID[nd.ID] = n
	s.membersChanged = true
	for l, group := range s.groupsOf(nd.Cluster) {
		list, ok := l.nodes[group]
		if !ok && group != l.name {
			k, _ := slices.BinarySearch(l.others, group)
			l.others = slices.Insert(l.others, k, group)
			s.matchPeers(l, l.others...) // positions at all links depend on the siblings
		}
		i, _ := findNode(list, nd.ID)
		l.nodes[group] = slices.Insert(list, i, n)
	}
	return n
}

func (s *State) removeNode(n *node) {
	delete(s.byID, n.ID)
	s.membersChanged = true
	for l, group := range s.groupsOf(n.Cluster) {
		list := l.nodes[group]
		if i, ok := findNode(list, n.ID); ok {
			l.nodes[group] = slices.Delete(list, i, i+1)
		}
		s.forgetSibling(l, group)
	}
}

// admits reports whether there is room for a cluster's group. A group of the node has at most as many
// siblings as a tracker admits; a sibling whose members have all failed makes room.
func (s *State) admits(cluster string) bool {
	for l, group := range s.groupsOf(cluster) {
		if group == l.name || len(l.nodes[group]) > 0 || len(l.others) < proto.MaxClusters {
			continue
		}
		k := slices.IndexFunc(l.others, func(other string) bool {
			return !slices.ContainsFunc(l.nodes[other], func(n *node) bool { return n.peer != nil || !n.failed })
		})
		if k < 0 {
			return false
		}
		for _, n := range slices.Clone(l.nodes[l.others[k]]) {
			s.removeNode(n)
		}
	}
	return true
}

// forgetSibling forgets a sibling of a group when no member of it is left. Peers choose their names, and
// each external peer has a separate cluster.
func (s *State) forgetSibling(l *level, name string) {
	if len(l.nodes[name]) > 0 || name == l.name {
		return
	}
	delete(l.nodes, name)
	delete(l.links, name)
	l.others = slices.DeleteFunc(l.others, func(other string) bool { return other == name })
	s.matchPeers(l, l.others...) // positions at all links depend on the siblings
}

func findNode(ns []*node, id proto.PeerID) (int, bool) {
	return slices.BinarySearchFunc(ns, id, func(n *node, id proto.PeerID) int {
		return strings.Compare(string(n.ID), string(id))
	})
}

// onJoined begins the conversation with a peer.
func (s *State) onJoined(nd Node) {
	if s.joined[nd.ID] != nil || nd.ID == s.cfg.Self {
		return
	}
	if !s.admits(nd.Cluster) {
		s.do(Drop{Peer: nd.ID, Code: proto.CodeBusy, Why: "too many clusters"})
		s.onUnreachable(nd.ID)
		return
	}
	s.rumours.remove(nd.ID)
	n := s.byID[nd.ID]
	changed := []string{nd.Cluster}
	if n == nil || n.Cluster != nd.Cluster {
		if n != nil {
			changed = append(changed, n.Cluster)
		}
		n = s.addNode(nd)
	}
	p := s.newPeer(nd, n.Record)
	if p.HasStalled() {
		p.Restall()
		p.pipe.Probing = true
	}
	s.ration(p)
	if len(s.peers) == 0 && !s.heardAt.IsZero() && !s.isSilence() {
		s.reunite(n) // it lost all others at once
	}
	s.heard()
	s.peers = insertPeer(s.peers, p)
	s.joined[nd.ID] = p
	if n.Banned {
		s.ban(p, "banned before")
		return
	}
	if n.awaited > 0 { // it is still to announce what it has
		s.settled = s.now.Add(s.t.Settle)
	}
	n.peer, n.silent, n.failed, n.dialing, n.stale = p, false, false, false, false
	s.membersChanged = true
	if nd.Host != "" {
		n.Host = nd.Host
	}
	s.joinPlan(p)
	s.updateRank(changed...)
	s.sendWant(p)
	s.sendPing(p)
	s.introduce(p, introduced)
	s.tryRumours()
}

// onLeft ends the conversation. What was requested of the peer goes to others.
func (s *State) onLeft(id proto.PeerID, banned bool) {
	p := s.joined[id]
	if p == nil {
		return
	}
	delete(s.joined, id)
	s.peers = removePeer(s.peers, p)
	s.ready, s.announcing = removePeer(s.ready, p), removePeer(s.announcing, p)
	if p.link != nil {
		p.link.peers = removePeer(p.link.peers, p)
	}
	s.leavePlan(p)
	s.releaseAll(p)
	s.recount(p, func() { p.Stalled = true }) // its pieces and claims do not count any more
	for i := range p.have.All() {
		s.removeHave(p, i)
	}
	for i := range p.claim.All() {
		s.removeClaim(p, i)
	}
	if p.link != nil && len(p.link.peers) == 0 {
		p.link.pieces.Clear()
	}
	p.ForgetReports()
	if s.stealing == id {
		s.stealing = ""
	}
	switch n := s.byID[id]; {
	case n == nil:
	case n.External:
		s.removeNode(n)
	default:
		n.peer, n.Banned = nil, banned
		s.lose(n, false)
	}
	s.updateRank(p.Cluster)
}

// drop ends the conversation from this side.
func (s *State) drop(p *peer, code proto.Code, why string) {
	s.do(Drop{Peer: p.ID, Code: code, Why: why})
	s.onLeft(p.ID, code == proto.CodeBanned)
}

func (s *State) onUnreachable(id proto.PeerID) {
	if known, _ := s.rumours.remove(id); known {
		s.membersChanged = true
		s.tryRumours()
	}
	n := s.byID[id]
	if n == nil || n.peer != nil {
		return
	}
	n.dialing = false
	s.lose(n, !n.stale)
	s.updateRank(n.Cluster)
}

// lose notes that a session or a dial has failed. away says that the member cannot be reached now; one
// that is awaited is dialled again if that is not known.
func (s *State) lose(n *node, away bool) {
	if n.awaited > 1 && !away && !n.Banned {
		n.awaited--
		n.stale, s.membersChanged = false, true
		s.dial(n)
		return
	}
	n.failed = true
	s.endWait(n)
	n.pause = min(max(2*n.pause, s.t.Retry), s.t.MaxRetry)
	n.retryAt = s.now.Add(n.pause)
	if s.isSilence() {
		return // the node may be cut off
	}
	n.fails++
	if n.fails > maxFails && !n.Banned || len(s.byID) > maxNodes {
		s.removeNode(n)
	}
}
