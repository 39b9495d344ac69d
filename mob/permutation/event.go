package permutation

import (
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// Event is something that happened at the node.
type Event interface{ event() }

type (
	// Permuted brings the topology, or a new one: the members have changed. The
	// node is one of them.
	Permuted struct{ Topology *Topology }
	// Joined says that a peer can be talked to, and which batches it said it has.
	// Others than joined members of the topology are sent nothing.
	Joined struct {
		Peer    proto.PeerID
		Decoded []int
	}
	// Left says that a joined peer is gone. What was on its way from or to it is
	// lost; no Sent follows.
	Left struct{ Peer proto.PeerID }
	// Offered says that a peer has a block for the node (see [Offer]). The answer is
	// [Accept] or [Refuse], which may take until the node is free.
	Offered struct {
		Peer           proto.PeerID
		Batch          int
		Round, Skipped int
	}
	// Accepted is a peer's answer to an [Offer].
	Accepted struct{ Peer proto.PeerID }
	// Refused is the other answer: the peer is busy, or has decoded the batch.
	Refused struct {
		Peer    proto.PeerID
		Round   int
		Decoded bool
	}
	// Freed is the word of a peer that was busy that it is not any more.
	Freed struct{ Peer proto.PeerID }
	// Sent says that a block has left the node as a [Send] wanted.
	Sent struct{ Peer proto.PeerID }
	// Received says that an accepted block has come. Block is its number when it
	// is a plain one.
	Received struct {
		Peer         proto.PeerID
		Batch, Block int
	}
	// Decoded says that the node has all blocks of a batch, decoded and verified.
	Decoded struct{ Batch int }
	// Heard is a peer's word that it has decoded a batch.
	Heard struct {
		Peer  proto.PeerID
		Batch int
	}
	// Mapped is a peer's word on which plain blocks of a batch it has. The set is
	// not changed from then on.
	Mapped struct {
		Peer  proto.PeerID
		Batch int
		Has   *pieceset.Set
	}
	// Tick says that time has passed (see the package comment).
	Tick struct{}
)

func (Permuted) event() {}
func (Joined) event()   {}
func (Left) event()     {}
func (Offered) event()  {}
func (Accepted) event() {}
func (Refused) event()  {}
func (Freed) event()    {}
func (Sent) event()     {}
func (Received) event() {}
func (Decoded) event()  {}
func (Heard) event()    {}
func (Mapped) event()   {}
func (Tick) event()     {}
