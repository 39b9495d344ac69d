package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/bitset"
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

	// What it announced.
	have, claim *bitset.Set
	claimed     map[int]time.Time // when it claimed what it has not got, at most maxClaims
	lapsed      *bitset.Set       // pieces whose claim it let lapse
	announced   bool              // its first Have has come
	seed        bool              // it had everything then
	overrode    time.Time         // when it last began what the node had claimed before
	slow        int               // pieces that it is slow at, and that may be stolen
	deferred    map[int]time.Time // the time from when a piece may be requested of it

	// What the node asked to be announced, and what the peer did.
	interest     interest
	interestSent bool
	subscribed   *bitset.Set

	// What is to be announced to it.
	pending       proto.Have // for the next batch
	hasPending    bool       // a Have is due, even an empty one
	flushed       time.Time  // when the last batch was sent
	announcing    bool       // listed in State.announcing
	urgent        bool       // some of pending is
	earlyHaves    int        // haves that did not wait for a batch
	announcedSlow int        // the last count of the node's slow pieces

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
		Node:       nd,
		node:       n,
		shared:     proto.SharedParts(nd.Cluster, s.cfg.Cluster),
		joinedAt:   s.now,
		have:       bitset.New(s.pieces),
		claim:      bitset.New(s.pieces),
		claimed:    map[int]time.Time{},
		lapsed:     bitset.New(s.pieces),
		subscribed: bitset.New(s.pieces),
		deferred:   map[int]time.Time{},
	}
	p.Peer = conduct.NewPeer(&s.t.Rules, n.Record, p.near(), s.now)
	p.local = p.shared == len(s.levels)
	p.matched = p.local
	p.pipe = flow.Pipe{Limits: &s.t.Limits, External: p.External, Near: p.near()}
	if s.layout.Whole {
		p.pipe.Size = s.layout.Size
	}
	if !p.local {
		p.level = s.levels[p.shared]
		p.link = s.linkTo(p.level, proto.ClusterGroup(p.Cluster, p.shared+1))
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
