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
	// Learned has members that a tracker named, or a peer if Hearsay is true. Even an empty one ends the
	// wait for the first answer.
	Learned struct {
		Nodes   []Node
		Hearsay bool
	}
	// Joined reports an open control stream to a peer. If Whole is true it has every piece, and need not
	// announce them.
	Joined struct {
		Node
		Whole bool
	}
	// Named has the name of a joined peer's host.
	Named struct {
		Peer proto.PeerID
		Host string
	}
	// Left reports that the control stream of a joined peer has ended.
	Left struct{ Peer proto.PeerID }
	// Unreachable reports that a [Dial] failed.
	Unreachable struct{ Peer proto.PeerID }
	// Received has a control message of a joined peer.
	Received struct {
		Peer    proto.PeerID
		Message proto.Message
	}
	// Arrived reports that a requested block is in the store, not yet verified.
	Arrived struct {
		Peer proto.PeerID
		Span proto.Span
	}
	// Stored reports that a piece is verified and on disk, or a coded block in memory.
	Stored struct{ Piece int }
	// Failed reports that a piece failed its hash, or was discarded, and the peers that sent parts of
	// it.
	Failed struct {
		Piece   int
		Sources []proto.PeerID
		// Forged is true if the block proves that its only source is at fault, as with an
		// invalid signature.
		Forged bool
	}
	// Blamed reports that a peer sent a corrupt part of a piece that failed and that several peers sent. It
	// follows once the piece is valid.
	Blamed struct {
		Peer  proto.PeerID
		Piece int
	}
	// Lost reports that a stored piece is damaged, and not served any more. It is fetched again.
	Lost struct{ Piece int }
	// Grown reports further pieces of a growing content, from the number First on, and their sizes. They can
	// be verified and stored from now on.
	Grown struct {
		First int
		Sizes []int
	}
	// Withheld reports that stored pieces cannot be read at present.
	Withheld struct{ proto.Range }
	// Offered reports that withheld pieces can be read again.
	Offered struct{ proto.Range }
	// Checked reports that a piece is valid that a peer reported as bad (then Alarm is true), or that could
	// not be read for the peer.
	Checked struct {
		Peer  proto.PeerID
		Piece int
		Alarm bool
	}
	// Useless reports that a coded block from a peer is a combination of stored blocks.
	Useless struct {
		Peer  proto.PeerID
		Piece int
	}
	// Decoded reports that a generation is decoded, verified and on disk. It replaces Stored for the last of
	// its blocks.
	Decoded struct{ Generation int }
	// Filled reports that a generation has enough blocks, and is being decoded.
	Filled struct{ Generation int }
	// Polluted reports that a generation failed its hashes, and its blocks are dropped.
	Polluted struct{ Generation int }
	// Liar reports a node that signed corrupt blocks.
	Liar struct{ Peer proto.PeerID }
	// Gathered reports that a pushed block has come from a peer, useful or not.
	Gathered Push
	// Sent reports that the block of a [Push] has left.
	Sent struct{ Peer proto.PeerID }
	// Tick reports that time has passed.
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
