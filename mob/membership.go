package mob

import (
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// node is a member that was told of. It counts in ranks and shares while it is
// alive: joined, or not yet found to be unreachable.
type node struct {
	Node
	peer    *peer // nil unless joined
	dialing bool
	silent  bool // joined, but silent: others do its work
	failed  bool // its stream ended or its dial failed since it last joined
	retryAt time.Time
	pause   time.Duration
	fails   int // since it last joined and told what it has
	banned  bool
}

func (n *node) alive() bool { return n.peer != nil && !n.silent || n.peer == nil && !n.failed }

// learned takes in members that others told of. A failed one is worth another
// dial when it is still told of after its pause.
func (s *State) onLearned(nodes []Node) {
	s.heardOfMembers, s.membersChanged = true, true
	var changed []string
	for _, nd := range nodes {
		if nd.ID == s.cfg.Self {
			continue
		}
		n := s.byID[nd.ID]
		if n == nil {
			if len(s.byID) >= maxNodes {
				continue
			}
			n = s.addNode(nd)
			changed = appendNew(changed, nd.Cluster)
			if n.Cluster == s.cfg.Cluster {
				s.settled = s.now.Add(s.t.Settle)
			}
		} else if n.failed && n.peer == nil && n.Cluster != nd.Cluster {
			changed = appendNew(appendNew(changed, n.Cluster), nd.Cluster)
			s.removeNode(n)
			s.addNode(nd)
		}
	}
	if len(changed) > 0 {
		s.updateRank(changed...)
		s.dialCluster()
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
	// maxFails is after how many failures in a row a member is forgotten: at the
	// default pauses two minutes, longer than a tracker goes on telling of it.
	maxFails = 8
)

func (s *State) addNode(nd Node) *node {
	n := &node{Node: nd}
	s.byID[nd.ID] = n
	s.membersChanged = true
	list, ok := s.nodes[nd.Cluster]
	if !ok && nd.Cluster != s.cfg.Cluster {
		k, _ := slices.BinarySearch(s.others, nd.Cluster)
		s.others = slices.Insert(s.others, k, nd.Cluster)
		s.matchPeers(s.others...) // the order at every link
	}
	i, _ := findNode(list, nd.ID)
	s.nodes[nd.Cluster] = slices.Insert(list, i, n)
	return n
}

func (s *State) removeNode(n *node) {
	delete(s.byID, n.ID)
	s.membersChanged = true
	list := s.nodes[n.Cluster]
	if i, ok := findNode(list, n.ID); ok {
		s.nodes[n.Cluster] = slices.Delete(list, i, i+1)
	}
	if n.Guest {
		s.forgetCluster(n.Cluster)
	}
}

// forgetCluster forgets a cluster of guests once nobody is left of it: their
// clusters are many and do not come again.
func (s *State) forgetCluster(name string) {
	if len(s.nodes[name]) > 0 || name == s.cfg.Cluster {
		return
	}
	delete(s.nodes, name)
	delete(s.links, name)
	delete(s.remote, name)
	s.others = slices.DeleteFunc(s.others, func(other string) bool { return other == name })
	s.matchPeers(s.others...) // the order at every link
}

func findNode(ns []*node, id proto.PeerID) (int, bool) {
	return slices.BinarySearchFunc(ns, id, func(n *node, id proto.PeerID) int {
		return strings.Compare(string(n.ID), string(id))
	})
}

// join begins the conversation with a peer.
func (s *State) onJoined(nd Node) {
	if s.joined[nd.ID] != nil || nd.ID == s.cfg.Self {
		return
	}
	n := s.byID[nd.ID]
	changed := []string{nd.Cluster}
	if n != nil && n.Cluster != nd.Cluster {
		changed = append(changed, n.Cluster)
		s.removeNode(n)
		n = nil
	}
	if n == nil {
		n = s.addNode(nd)
	}
	p := &peer{Node: nd, local: nd.Cluster == s.cfg.Cluster, lastSeen: s.now, news: news{
		have: bitset.New(s.pieces), claim: bitset.New(s.pieces), subscribed: bitset.New(s.pieces), deferred: map[int]time.Time{},
	}}
	p.matched = p.local
	if s.layout.Whole {
		p.request = s.layout.Size
	}
	if !p.local {
		p.link = s.linkTo(p.Cluster)
		p.link.peers = insertPeer(p.link.peers, p)
	}
	s.peers = insertPeer(s.peers, p)
	s.joined[nd.ID] = p
	if n.banned {
		s.drop(p, proto.CodeBanned, "too many bad pieces")
		return
	}
	n.peer, n.silent, n.failed, n.dialing = p, false, false, false
	s.membersChanged = true
	if !p.local && s.remote[p.Cluster] == nil {
		s.remote[p.Cluster] = &remoteCluster{pieces: bitset.New(s.pieces), salt: clusterSalt(p.Cluster)}
	}
	s.updateRank(changed...)
	s.sendWant(p)
	s.sendPing(p)
	s.introduce(p, introduction)
}

// leave ends it. By its own doing or not, what it owed goes to others.
func (s *State) leave(id proto.PeerID, banned bool) {
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
	s.releaseAll(p)
	for i := range p.have.All() {
		s.removeHave(p, i)
	}
	for i := range p.claim.All() {
		s.removeClaim(p, i)
	}
	if s.stealing == id {
		s.stealing = ""
	}
	switch n := s.byID[id]; {
	case n == nil:
	case n.Guest:
		s.removeNode(n)
	default:
		n.banned = banned
		s.markFailed(n)
	}
	s.updateRank(p.Cluster)
}

// drop ends the conversation from this side.
func (s *State) drop(p *peer, code proto.Code, why string) {
	s.do(Drop{Peer: p.ID, Code: code, Why: why})
	s.leave(p.ID, code == proto.CodeBanned)
}

func (s *State) ban(p *peer) { s.drop(p, proto.CodeBanned, "too many bad pieces") }

func (s *State) onUnreachable(id proto.PeerID) {
	n := s.byID[id]
	if n == nil || n.peer != nil {
		return
	}
	s.markFailed(n)
	s.updateRank(n.Cluster)
}

func (s *State) markFailed(n *node) {
	n.peer, n.dialing, n.failed = nil, false, true
	s.membersChanged = true
	n.pause = min(max(2*n.pause, s.t.Retry), s.t.MaxRetry)
	n.retryAt = s.now.Add(n.pause)
	if n.fails++; n.fails > maxFails && !n.banned {
		s.removeNode(n)
	}
}

// scheduleConnect has the node dial once members have stopped to come and go for a
// moment. While they do, ranks shift, and who is dialled by them is of no use a
// moment later.
func (s *State) scheduleConnect() {
	if s.now.Sub(s.shifted) > s.t.Calm {
		s.restless = s.now
	}
	s.shifted = s.now
	at := s.now.Add(s.t.Calm)
	if most := s.restless.Add(maxRestless * s.t.Calm); at.After(most) {
		at = most
	}
	s.connectAt = at
}

// maxRestless bounds, in times of Calm, how long dials wait.
const maxRestless = 10

// connect dials whom the node should know: its whole cluster, and in every other
// cluster the members whose shares overlap its own.
func (s *State) connect() {
	s.connectAt, s.restless = time.Time{}, s.now
	s.dialCluster()
	budget := s.t.MaxGlobal
	for _, cluster := range s.others {
		budget = s.dialMatches(cluster, budget)
	}
}

// dialMatches dials the members of a cluster whose shares overlap the node's, as long as the
// budget lasts, and returns what is left of it.
func (s *State) dialMatches(cluster string, budget int) int {
	list := s.nodes[cluster]
	alive := make([]*node, 0, len(list))
	for _, n := range list {
		if n.alive() {
			alive = append(alive, n)
		} else {
			s.redial(n, len(list))
		}
	}
	first, end := ranks.Matches(s.rank, s.size, len(alive))
	for _, n := range alive[first:end] {
		if budget == 0 {
			break
		}
		budget--
		s.dial(n)
	}
	return budget
}

// dialCluster dials the own cluster.
func (s *State) dialCluster() {
	budget := s.t.MaxLocal
	for _, n := range s.nodes[s.cfg.Cluster] {
		if budget--; budget < 0 {
			break
		}
		s.dial(n)
	}
}

// redial gives a failed member of another cluster a chance when its rank
// among all that are known would make it a global peer.
func (s *State) redial(n *node, size int) {
	rank, _ := findNode(s.nodes[n.Cluster], n.ID)
	if first, end := ranks.Matches(s.rank, s.size, size); rank >= first && rank < end {
		s.dial(n)
	}
}

func (s *State) dial(n *node) {
	if n.peer != nil || n.dialing || n.banned || n.Guest {
		return
	}
	if s.now.Before(n.retryAt) {
		if s.connectAt.IsZero() || n.retryAt.Before(s.connectAt) {
			s.connectAt = n.retryAt
		}
		return
	}
	n.dialing = true
	s.do(Dial{Peer: n.ID})
}

// The members told to one peer at once, at most: at the greeting, and by gossip.
// A node has a hundred greetings, so a few members each are enough.
const (
	introduction = 8
	gossiped     = 256
)

// introduce tells a peer of at most so many members that are there, its own
// cluster first; of more than that, a run that begins anywhere. That there are
// none is news too.
func (s *State) introduce(p *peer, most int) {
	var ms []Node
	skip := 0
	if len(s.byID) > most+1 {
		skip = s.rng.IntN(len(s.byID) - most)
	}
	add := func(cluster string) {
		list := s.nodes[cluster]
		k := min(skip, len(list))
		skip -= k
		for _, n := range list[k:] {
			if len(ms) >= most {
				return
			}
			if n.alive() && n.ID != p.ID && !n.Guest {
				ms = append(ms, n.Node)
			}
		}
	}
	add(p.Cluster)
	if !p.local {
		add(s.cfg.Cluster)
	}
	for _, cluster := range s.others {
		if cluster != p.Cluster {
			add(cluster)
		}
	}
	s.do(Introduce{Peer: p.ID, Members: ms})
}
