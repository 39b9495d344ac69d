package peer

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/requests"
	"github.com/mobgrid/mob/proto"
)

// session is the conversation with one peer about one swarm, as the swarm sees it.
// How it is carried on is its line's business.
type session struct {
	// Constant.
	swarm  *swarm
	node   mob.Node
	name   string // for people
	client string // what a guest says that it runs
	whole  bool   // it said at once that it has everything
	local  bool   // its bytes are counted as the LAN's
	dialer proto.PeerID
	addrs  [][]byte // at which it may be dialled
	line   line

	asked *requests.Asked
}

// line carries a session: [native] for nodes, [Seat] for guests.
type line interface {
	// start begins to take in what the peer says. It is called once, when the
	// session is admitted.
	start()
	// send passes a message on. It does not block.
	send(m proto.Message)
	// refuse ends, with a reason, a session that never began, and dismiss one that
	// did. Neither waits for the peer.
	refuse(code proto.Code, why string)
	dismiss(code proto.Code, why string)
	// close ends the session from any goroutine, at once. Closing again does nothing.
	close()
}

func (c *session) id() proto.PeerID { return c.node.ID }

// received hands a message of the peer to the loop.
func (c *session) received(m proto.Message) {
	c.swarm.post(input{ev: mob.Received{Peer: c.id(), Message: m}, sess: c})
}

// ended reports the end of the session to the loop.
func (c *session) ended(err error) { c.swarm.post(input{sess: c, ended: true, err: err}) }
