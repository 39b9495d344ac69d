package mob

import "github.com/mobgrid/mob/proto"

// Action is something that the node shall do.
type Action interface{ action() }

type (
	// Send sends a control message to a joined peer.
	Send struct {
		Peer    proto.PeerID
		Message proto.Message
	}
	// Introduce sends a joined peer the addresses of Members.
	Introduce struct {
		Peer    proto.PeerID
		Members []Node
	}
	// Dial opens a control stream to a member. The answer is [Joined] or
	// [Unreachable].
	Dial struct{ Peer proto.PeerID }
	// Drop ends the control stream of a joined peer, which has left by that: no
	// [Left] is expected.
	Drop struct {
		Peer proto.PeerID
		Code proto.Code
		Why  string
	}
	// Finished says that every piece is stored. It comes once.
	Finished struct{}
)

func (Send) action()      {}
func (Introduce) action() {}
func (Dial) action()      {}
func (Drop) action()      {}
func (Finished) action()  {}
