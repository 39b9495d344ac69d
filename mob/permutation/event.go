package permutation

import (
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// Event is something that happened at the node.
type Event interface{ event() }

type (
	// Permuted brings the topology, or a new one: the members have changed. The
	// node is one of them. Since is by place the batch that was going round when a
	// member came: those before it are sent to it last, so that nobody waits for who is
	// late. Nil is for nobody late.
	Permuted struct {
		Topology *Topology
		Since    []int
	}
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
	// Confirmed is a peer's answer to a block that it was not offered.
	Confirmed struct{ Peer proto.PeerID }
	// Received says that a block has come that was accepted, or came without an offer. Block is its number when it
	// is a plain one.
	Received struct {
		Peer         proto.PeerID
		Batch, Block int
		Round        int // of one that came without an offer
	}
	// Filled says that the node needs no more blocks of a batch, which is not decoded
	// yet. Decoded or Discarded follows.
	Filled struct{ Batch int }
	// Decoded says that the node has all blocks of a batch, decoded and verified.
	Decoded struct{ Batch int }
	// Discarded says that what the node had of a batch is gone: it was not right, or has
	// changed since.
	Discarded struct{ Batch int }
	// Heard is a peer's word that it needs no more of a batch (see [Tell]).
	Heard struct {
		Peer  proto.PeerID
		Batch int
	}
	// Lacks is a peer's word that it needs a batch after all (see [Retract]).
	Lacks struct {
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

func (Permuted) event()  {}
func (Joined) event()    {}
func (Left) event()      {}
func (Offered) event()   {}
func (Accepted) event()  {}
func (Refused) event()   {}
func (Freed) event()     {}
func (Sent) event()      {}
func (Confirmed) event() {}
func (Received) event()  {}
func (Decoded) event()   {}
func (Filled) event()    {}
func (Lacks) event()     {}
func (Discarded) event() {}
func (Heard) event()     {}
func (Mapped) event()    {}
func (Tick) event()      {}
