package swarm

import (
	"context"
	"errors"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// ExternalPeer is the connection to a peer that speaks another protocol, such as a stock BitTorrent
// client. Its implementation translates between the protocols. To the swarm it is the only
// peer of its cluster.
type ExternalPeer interface {
	// Receive takes a message from the swarm. It is called by one goroutine, and must not
	// block.
	Receive(m proto.Message)
	// Close ends the connection, from any goroutine, and does not wait. Closing again does
	// nothing.
	Close(code proto.Code, why string)
}

// ExternalPeerInfo describes an external peer.
type ExternalPeerInfo struct {
	// ID identifies an external peer, and is not the id of a node.
	ID proto.PeerID
	// Cluster is the cluster of this peer only, and its name in logs and status.
	Cluster string
	// Client is the program that the peer reports, if any.
	Client string
	// LAN counts its bytes as LAN traffic.
	LAN bool
}

// Attachment attaches one external peer to a swarm. Its methods may be called from any
// goroutine.
type Attachment struct {
	swarm    *Swarm
	session  *session // set by Join
	external ExternalPeer
	detach   func() bool // of the end of the swarm
}

// Attach returns an attachment for an external peer. It fails for a coded transfer.
func (s *Swarm) Attach() (*Attachment, error) {
	if s.coding.Coded() {
		return nil, errors.New("a coded transfer takes no BitTorrent clients")
	}
	return &Attachment{swarm: s}, nil
}

// Join makes the external peer a peer of the swarm. The swarm sends it messages until it is
// closed, and [Attachment.Leave] must be called in the end. It is called once.
func (a *Attachment) Join(info ExternalPeerInfo, p ExternalPeer) {
	a.external = p
	shared := 0
	if info.LAN {
		shared = proto.ClusterParts(a.swarm.cfg.Cluster)
	}
	a.session = &session{
		swarm:   a.swarm,
		node:    mob.Node{ID: info.ID, Cluster: info.Cluster, External: true},
		name:    info.Cluster,
		client:  info.Client,
		shared:  shared,
		local:   info.LAN,
		dialer:  info.ID,
		conn:    (*externalConn)(a),
		pending: payload.NewPending(),
		source:  a.swarm.sources.of(info.Cluster),
	}
	a.detach = context.AfterFunc(a.swarm.ctx, a.session.conn.close)
	a.swarm.join(a.session)
}

// Leave reports that the peer's connection has ended, and why. Its outstanding blocks are
// requested of other peers.
func (a *Attachment) Leave(err error) {
	a.detach()
	a.session.ended(err)
}

// Send hands a message of the peer to the swarm. It blocks while the swarm is behind.
// Requests are not for the swarm: the translator serves them.
func (a *Attachment) Send(m proto.Message) { a.session.received(m) }

// Has reports whether a piece is verified and may be served.
func (a *Attachment) Has(piece uint32) bool { return a.swarm.st.Has(int(piece)) }

// Pieces returns the number of pieces of the content.
func (a *Attachment) Pieces() int { return a.swarm.m.Pieces() }

// Size returns the length of a piece in bytes.
func (a *Attachment) Size(piece uint32) int { return a.swarm.m.PieceSize(int(piece)) }

// Read reads a part of a stored piece. If that fails, the piece is checked.
func (a *Attachment) Read(b []byte, piece, begin uint32) error {
	_, err := a.swarm.st.ReadAt(b, a.swarm.m.PieceOffset(int(piece))+int64(begin))
	if err != nil {
		a.swarm.Suspect(payload.Suspicion{Peer: a.session, Piece: piece, Number: piece})
	}
	return err
}

// Upload returns the limits of what is sent to the peer. It may be called after Join.
func (a *Attachment) Upload() limit.Chain { return a.swarm.cfg.Limits.up(a.session.local) }

// Sent counts n bytes of payload that were sent to the peer.
func (a *Attachment) Sent(n int) { a.swarm.traffic.Sent(a.session.shared, n) }

// Wasted counts n bytes of payload from the peer that were not needed.
func (a *Attachment) Wasted(n int) { a.session.duplicate(n) }

// Store stores a span that the swarm requested of the peer, and drops one whose request
// was canceled. It releases b, and blocks while verification is behind.
func (a *Attachment) Store(sp proto.Span, b *payload.Buffer) {
	requested, _, _ := a.session.pending.Take(sp)
	if requested {
		a.session.writeInReader(&payload.Block{From: a.session, Span: sp, Buf: b})
		return
	}
	a.Wasted(len(b.B))
	b.Release()
}

// externalConn is an Attachment as the conn of its session.
type externalConn Attachment

func (c *externalConn) start() {}

func (c *externalConn) send(m proto.Message) { c.external.Receive(m) }

func (c *externalConn) reject(code proto.Code, why string) { c.external.Close(code, why) }

func (c *externalConn) closeWithError(code proto.Code, why string) { c.external.Close(code, why) }

func (c *externalConn) close() { c.external.Close(proto.CodeLeaving, errEnded.Error()) }
