package mob

import (
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/proto"
)

// Event is something that happened at the node. A piece is one of the numbers of the [Picker]: a
// block in a coded transfer.
type Event interface{ event() }

// Node is a member of a swarm.
type Node = roster.Member

type (
	// Learned brings members that a tracker told of, or a peer: then they are hearsay. Even an
	// empty one ends the wait for the first answer.
	Learned struct {
		Nodes   []Node
		Hearsay bool
	}
	// Joined says that a control stream to a peer is open, whoever opened it. A peer that is
	// whole has every piece, and need not announce it.
	Joined struct {
		Node
		Whole bool
	}
	// Named says what a joined peer calls its host.
	Named struct {
		Peer proto.PeerID
		Host string
	}
	// Left says that the control stream of a joined peer has ended.
	Left struct{ Peer proto.PeerID }
	// Unreachable says that a [Dial] failed.
	Unreachable struct{ Peer proto.PeerID }
	// Received brings a control message of a joined peer.
	Received struct {
		Peer    proto.PeerID
		Message proto.Message
	}
	// Arrived says that a requested block is in the store, not yet verified.
	Arrived struct {
		Peer proto.PeerID
		Span proto.Span
	}
	// Stored says that a piece is verified and on disk; a coded block, that it is in memory.
	Stored struct{ Piece int }
	// Failed says that a piece failed its hash, or that what came of it was discarded, and which
	// peers sent parts of it.
	Failed struct {
		Piece   int
		Sources []proto.PeerID
		// Forged says that the block shows by itself that its only source is at fault, as an
		// invalid signature does.
		Forged bool
	}
	// Blamed says that a peer sent a false part of a piece that several sent and that failed. It
	// comes once the piece is right.
	Blamed struct {
		Peer  proto.PeerID
		Piece int
	}
	// Lost says that a stored piece turned out to be damaged, and is not served any more. It is
	// fetched again.
	Lost struct{ Piece int }
	// Grown says that a content which grows has further pieces from the number First on, and how
	// many bytes each of them has. They can be verified, and stored, from now on.
	Grown struct {
		First int
		Sizes []int
	}
	// Withheld says that stored pieces cannot be read at present.
	Withheld struct{ proto.Range }
	// Offered says that pieces which were withheld are for others again.
	Offered struct{ proto.Range }
	// Checked says that a piece is sound of which a peer complained, which is a false alarm then, or
	// that could not be read for it.
	Checked struct {
		Peer  proto.PeerID
		Piece int
		Alarm bool
	}
	// Useless says that a coded block from a peer is a combination of those that are there.
	Useless struct {
		Peer  proto.PeerID
		Piece int
	}
	// Decoded says that a generation is decoded, verified and on disk. It comes in the place of
	// Stored for the last of its blocks.
	Decoded struct{ Generation int }
	// Filled says that a generation has enough blocks, and is being decoded.
	Filled struct{ Generation int }
	// Polluted says that a generation failed its hashes, and its blocks are dropped.
	Polluted struct{ Generation int }
	// Liar says that a node signed false blocks.
	Liar struct{ Peer proto.PeerID }
	// Gathered says that a pushed block has come from a peer, of use or not.
	Gathered Push
	// Sent says that the block of a [Push] has left.
	Sent struct{ Peer proto.PeerID }
	// Tick says that time has passed.
	Tick struct{}
)

func (Learned) event()     {}
func (Joined) event()      {}
func (Named) event()       {}
func (Left) event()        {}
func (Unreachable) event() {}
func (Received) event()    {}
func (Arrived) event()     {}
func (Stored) event()      {}
func (Failed) event()      {}
func (Blamed) event()      {}
func (Lost) event()        {}
func (Grown) event()       {}
func (Withheld) event()    {}
func (Offered) event()     {}
func (Checked) event()     {}
func (Useless) event()     {}
func (Decoded) event()     {}
func (Filled) event()      {}
func (Polluted) event()    {}
func (Liar) event()        {}
func (Gathered) event()    {}
func (Sent) event()        {}
func (Tick) event()        {}
