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
	conduct.Peer
	node     *roster.Node
	shared   int    // parts of its cluster's name that it shares with the own: 0 if it is of another site
	local    bool   // of the own cluster; others are remote peers
	level    *level // the outermost group that what comes from a remote peer enters
	link     *link  // to a remote peer's group beside that
	matched  bool   // a local peer, or a remote one whose share overlaps the node's
	position int    // the node's, in the order of its group at the link
	ready    bool   // listed in State.ready
	idle     bool   // there was nothing to request of it, and it announced nothing since

	avail.Offers
	box          avail.Outbox
	deferred     map[int]time.Time // the time from when a piece may be requested of it
	interest     interest          // that the node sent
	interestSent bool

	// The requests of it.
	ahead   int    // pieces that are claimed for it, and wait for other members' claims or for room
	current *fetch // what is requested next, unless that went to another
	pipe    flow.Pipe

	member *assign.Member // nil if it is not a host of the plan

	// Round trip and sign of life.
	joinedAt  time.Time
	pingSent  time.Time
	stealSent time.Time // when it was last asked for slow pieces
}

func (s *State) newPeer(nd Node, n *roster.Node) *peer {
	p := &peer{
		Node:     nd,
		node:     n,
		shared:   proto.SharedParts(nd.Cluster, s.cfg.Cluster),
		joinedAt: s.now,
		Offers:   avail.NewOffers(s.layout.Count),
		deferred: map[int]time.Time{},
	}
	p.Peer = conduct.NewPeer(&s.t.Rules, n.Record, p.near(), s.now)
	var home *avail.Counts
	if l := s.home(p); l != nil {
		home = &l.Counts
	}
	p.box = avail.NewOutbox(p.ID, &p.Offers, home, s.layout.Count)
	p.local = p.shared == len(s.levels)
	p.matched = p.local
	p.pipe = flow.Pipe{Limits: &s.t.Limits, External: p.External, Near: p.near()}
	if s.layout.Whole {
		p.pipe.Size = s.layout.Size
	}
	if !p.local {
		p.level = s.levels[p.shared]
		p.link = p.level.linkTo(proto.ClusterGroup(p.Cluster, p.shared+1), &s.t.Limits)
		p.link.peers = insertPeer(p.link.peers, p)
		p.pipe.Window = &p.link.Window
	}
	return p
}

// hasBegun reports whether the peer has a piece to finish. It goes on with it when it is not
// matched any more: another that is may not have that piece.
func (p *peer) hasBegun() bool { return p.current != nil && p.current.peer == p }

// near reports whether the peer is of the node's site.
func (p *peer) near() bool { return p.shared > 0 }

// acrossLink reports whether the peer and the node may exchange pieces over a link. Peers of other
// sites would not be joined otherwise; those of the own site all are.
func (p *peer) acrossLink() bool { return !p.local && (!p.near() || p.matched) }

func (p *peer) isDeferred(i int) bool {
	_, ok := p.deferred[i]
	return ok
}
