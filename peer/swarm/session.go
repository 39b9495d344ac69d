package swarm

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// session is the swarm's view of one peer. Its conn speaks the peer's protocol.
type session struct {
	// Constant.
	swarm  *Swarm
	node   mob.Node
	name   string // for logs and status
	client string // the program that an external peer reports
	seed   bool   // its Hello reports that it has every piece
	named  bool   // it and the node follow plans and exchange names of hosts
	shared int    // parts of the name of its cluster that are the node's: more for nearer peers
	local  bool   // it shares some: its bytes count as LAN traffic
	dialer proto.PeerID
	addrs  [][]byte // for dials
	conn   conn
	host   netip.Addr // the address that a node is charged to

	// Set by the loop.
	admitted time.Time
	unshare  func() // notes the end of the session, see [Sharing]; nil if it is none of them

	// Safe for concurrent use.
	pending *payload.Pending
	blocks  atomic.Int64  // that were requested and exchanged, in both directions
	source  *atomic.Int64 // payload in bytes that came from the peer's cluster
}

// conn carries a session: a [nodePeer] for nodes, an [Attachment] for external peers.
type conn interface {
	// start starts to read. It is called once, when the session joins.
	start()
	// send sends a message. It does not block.
	send(m proto.Message)
	// reject ends a session that never joined, and closeWithError one that did. Both send
	// the peer the reason, and do not block.
	reject(code proto.Code, why string)
	closeWithError(code proto.Code, why string)
	// close ends the session without waiting, from any goroutine. Further calls have no effect.
	close()
}

func (c *session) ID() proto.PeerID { return c.node.ID }

// ofSite reports whether the peer is a node of the own site.
func (c *session) ofSite() bool { return c.local && !c.node.External }

// request sends a request. It is recorded first, so that its block is expected.
func (c *session) request(m *proto.Request, made bool) {
	c.pending.Add(m.Span, made)
	c.conn.send(m)
}

// received hands a message of the peer to the loop.
func (c *session) received(m proto.Message) {
	c.swarm.Post(mob.Received{Peer: c.ID(), Message: m}, c)
}

// ended reports the end of the session to the loop.
func (c *session) ended(err error) { c.swarm.post(func() { c.swarm.onLeave(c, err) }) }
