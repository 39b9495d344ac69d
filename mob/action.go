package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// Action is something that the caller of a [Strategy] does for it.
type Action interface{ action() }

type (
	// Send sends a control message to a joined peer.
	Send struct {
		Peer    proto.PeerID
		Message proto.Message
		// Made is true for a request of a block that the peer makes itself, see [Picker].
		Made bool
	}
	// Introduce sends a joined peer the addresses of members.
	Introduce struct {
		Peer    proto.PeerID
		Members []Node
	}
	// Dial opens a control stream to a member. [Joined] or [Unreachable] follows. A connection to it
	// from before the time Dead does not work: a session over it fell silent.
	Dial struct {
		Peer proto.PeerID
		Dead time.Time
	}
	// Drop ends the control stream of a joined peer. No [Left] follows.
	Drop struct {
		Peer proto.PeerID
		Code proto.Code
		Why  string
	}
	// Push sends a joined peer a block of a generation that it did not request: a new
	// combination of its blocks, or the plain block with that number. [Sent] follows.
	Push struct {
		Peer                     proto.PeerID
		Generation, Block, Round int
	}
	// Discard discards what has come of a piece. [Failed] without sources follows.
	Discard struct{ Piece int }
	// Finished reports that every piece is stored. It is repeated if one was [Lost] since.
	Finished struct{}
)

func (Send) action()      {}
func (Introduce) action() {}
func (Dial) action()      {}
func (Drop) action()      {}
func (Push) action()      {}
func (Discard) action()   {}
func (Finished) action()  {}
