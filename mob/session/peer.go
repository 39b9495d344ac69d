package session

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/proto"
)

// Peer is a joined node: one with an open control stream.
type Peer struct {
	roster.Member
	Node    *roster.Node
	Planned *assign.Member // nil if it is not a host of the plan
	Place
	conduct.Peer
	avail.Offers
	Box      avail.Outbox
	Interest Interest // that the node sent
	Pipe     flow.Pipe
	Pull

	JoinedAt, PingSent time.Time
}

// Place is the relation of a peer to the groups of the node.
type Place struct {
	Shared   int    // parts of its cluster's name that it shares with the node's: 0 if it is of another site
	Site     *Level // of the node
	Home     *Level // the innermost group that both are in, nil if it is of another site
	Local    bool   // of the own cluster; else it is remote
	Level    *Level // the outermost group that pieces of a remote peer enter
	Link     *Link  // from there to a remote peer's group
	Matched  bool   // the node requests of it: a local peer, or a remote one whose share overlaps the node's
	Position int    // of the node, in the order of its group at the link
}

// Pull is the state of the requests to a peer.
type Pull struct {
	Ready     bool              // listed in Table.Ready
	Idle      bool              // there was no piece to request, and it announced none since
	Current   *Fetch            // requested next, unless another peer has got it
	Deferred  map[int]time.Time // pieces that are not requested before a time
	StealSent time.Time         // last request for its slow pieces
}

// NewPeer returns the peer of a new session with a node.
func (t *Table) NewPeer(m roster.Member, n *roster.Node) *Peer {
	count := t.Layout.Count
	p := &Peer{Member: m, Node: n, JoinedAt: t.Now, Offers: avail.NewOffers(count)}
	p.Deferred = map[int]time.Time{}
	p.Shared = proto.SharedParts(m.Cluster, t.Own().Name)
	p.Site, p.Local = t.Site(), p.Shared == len(t.Levels)
	p.Matched = p.Local
	p.Peer = conduct.NewPeer(&t.Tuning.Rules, n.Record, p.Near(), t.Now)
	p.Pipe = flow.Pipe{Limits: &t.Tuning.Limits, External: p.External, Near: p.Near()}
	if t.Layout.Whole {
		p.Pipe.Size = t.Layout.Size
	}
	var home *avail.Counts
	if p.Shared > 0 {
		p.Home = t.Levels[p.Shared-1]
		home = &p.Home.Counts
	}
	p.Box = avail.NewOutbox(p.ID, &p.Offers, home, count)
	if !p.Local {
		p.Level = t.Levels[p.Shared]
		p.Link = p.Level.linkTo(proto.ClusterGroup(p.Cluster, p.Shared+1), &t.Tuning.Limits)
		p.Link.Peers = insertPeer(p.Link.Peers, p)
		p.Pipe.Window = &p.Link.Window
	}
	return p
}

// HasStarted reports whether the peer has a piece to finish. It continues when it does not match any
// more: another one may not have the piece.
func (p *Peer) HasStarted() bool { return p.Current != nil && p.Current.Peer == p }

// Near reports whether the peer is of the node's site.
func (p *Peer) Near() bool { return p.Shared > 0 }

// AcrossLink reports whether the peer and the node may exchange pieces over a link. Peers of other
// sites join for that only.
func (p *Peer) AcrossLink() bool { return !p.Local && (!p.Near() || p.Matched) }

// IsDeferred reports whether a piece is not requested of the peer yet.
func (p *Peer) IsDeferred(i int) bool {
	_, ok := p.Deferred[i]
	return ok
}

// AnswerLimit returns the time that an answer of the peer may take.
func (p *Peer) AnswerLimit() time.Duration {
	if most := p.Pings.Most(); most > 0 {
		return most
	}
	return p.Site.AnswerTime
}

// FetchesHere reports whether a remote peer fetches from the node: it is subscribed to all pieces. All
// peers of the site are.
func (p *Peer) FetchesHere() bool {
	return p.AcrossLink() && p.Box.Subscribed.Len() > 0 && p.Box.Subscribed.Full()
}

// Measures reports whether round trips to a peer are measured continuously: blocks go to it over a
// link, or it is a parent in a plan, whose requests wait behind blocks.
func (p *Peer) Measures() bool { return p.FetchesHere() || p.Pipe.Deep && p.AcrossLink() }

// IsActive reports whether the node may begin pieces with a peer: on the LAN, or as an active
// member at the link.
func (p *Peer) IsActive() bool {
	return p.Local || p.Matched && p.Position < p.Link.activeMembers()
}

// ActiveOver returns the number of members that may start pieces over the link to a peer, as the node
// sees it; 0 for a local peer.
func (p *Peer) ActiveOver() int {
	if p.Local {
		return 0
	}
	return min(p.Link.activeMembers(), p.Level.Size)
}

// Interest is a set of pieces that a peer is to announce.
type Interest uint8

// The interests.
const (
	NotSent Interest = iota
	NoInterest
	ShareInterest
	AllInterest
)

// InterestIn returns the node's interest in a peer: all pieces if it may request any, or if the peer
// is of its site; its share if it may come to that, to know whether there is work; and else none.
func (t *Table) InterestIn(p *Peer) Interest {
	switch {
	case t.Complete || !p.Near() && !p.Matched:
		return NoInterest
	case p.Near() || p.IsActive():
		return AllInterest
	}
	return ShareInterest
}
