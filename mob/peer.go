package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/proto"
)

// peer is a joined node: one with an open control stream.
type peer struct {
	Node
	node   *roster.Node
	member *assign.Member // nil if it is not a host of the plan
	place
	conduct.Peer
	avail.Offers
	box      avail.Outbox
	interest interest // that the node sent
	pipe     flow.Pipe
	pull

	joinedAt, pingSent time.Time
}

// place is the relation of a peer to the groups of the node.
type place struct {
	shared   int    // parts of its cluster's name that it shares with the node's: 0 if it is of another site
	site     *level // of the node
	home     *level // the innermost group that both are in, nil if it is of another site
	local    bool   // of the own cluster; else it is remote
	level    *level // the outermost group that pieces of a remote peer enter
	link     *link  // from there to a remote peer's group
	matched  bool   // the node requests of it: a local peer, or a remote one whose share overlaps the node's
	position int    // of the node, in the order of its group at the link
}

// pull is the state of the requests to a peer.
type pull struct {
	ready     bool              // listed in sessions
	idle      bool              // there was no piece to request, and it announced none since
	ahead     int               // pieces that are claimed for it, and wait for other members' claims or for room
	current   *fetch            // requested next, unless another peer has got it
	deferred  map[int]time.Time // pieces that are not requested before a time
	stealSent time.Time         // last request for its slow pieces
}

func (s *table) newPeer(nd Node, n *roster.Node) *peer {
	count := s.layout.Count
	p := &peer{Node: nd, node: n, joinedAt: s.now, Offers: avail.NewOffers(count)}
	p.deferred = map[int]time.Time{}
	p.shared = proto.SharedParts(nd.Cluster, s.own().Name)
	p.site, p.local = s.site(), p.shared == len(s.levels)
	p.matched = p.local
	p.Peer = conduct.NewPeer(&s.t.Rules, n.Record, p.near(), s.now)
	p.pipe = flow.Pipe{Limits: &s.t.Limits, External: p.External, Near: p.near()}
	if s.layout.Whole {
		p.pipe.Size = s.layout.Size
	}
	var home *avail.Counts
	if p.shared > 0 {
		p.home = s.levels[p.shared-1]
		home = &p.home.Counts
	}
	p.box = avail.NewOutbox(p.ID, &p.Offers, home, count)
	if !p.local {
		p.level = s.levels[p.shared]
		p.link = p.level.linkTo(proto.ClusterGroup(p.Cluster, p.shared+1), &s.t.Limits)
		p.link.peers = insertPeer(p.link.peers, p)
		p.pipe.Window = &p.link.Window
	}
	return p
}

// hasStarted reports whether the peer has a piece to finish. It continues when it does not match any
// more: another one may not have the piece.
func (p *peer) hasStarted() bool { return p.current != nil && p.current.peer == p }

// near reports whether the peer is of the node's site.
func (p *peer) near() bool { return p.shared > 0 }

// acrossLink reports whether the peer and the node may exchange pieces over a link. Peers of other
// sites join for that only.
func (p *peer) acrossLink() bool { return !p.local && (!p.near() || p.matched) }

func (p *peer) isDeferred(i int) bool {
	_, ok := p.deferred[i]
	return ok
}

// answerLimit returns the time that an answer of the peer may take.
func (p *peer) answerLimit() time.Duration {
	if most := p.Pings.Most(); most > 0 {
		return most
	}
	return p.site.AnswerTime
}
