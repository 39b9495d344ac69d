package permutation

import (
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// Action is something that the node shall do.
type Action interface{ action() }

type (
	// Offer asks a peer whether it takes a block of a batch. The answer is
	// [Accepted] or [Refused].
	Offer struct {
		Peer  proto.PeerID
		Batch int
		// Round is the one that the node has come to, and Skipped how many of the
		// orders from that on it has looked past: none when the peer is its
		// successor in the round. That one goes before others where offers meet.
		Round, Skipped int
	}
	// Accept tells a peer to send what it offered.
	Accept struct{ Peer proto.PeerID }
	// Refuse tells a peer not to send what it offered, which round the node has come
	// to, and whether it has decoded the batch.
	Refuse struct {
		Peer    proto.PeerID
		Round   int
		Decoded bool
	}
	// Free tells a peer that was refused that the node is not busy any more.
	Free struct{ Peer proto.PeerID }
	// Send sends the block that a peer accepted, or that needs no offer: a new combination of what the
	// node has of the batch, or the plain block of the given number. [Sent] follows.
	Send struct {
		Peer         proto.PeerID
		Batch, Block int
		Round        int // without an offer: see there
	}
	// Confirm tells a peer that its block, sent without an offer, has come.
	Confirm struct{ Peer proto.PeerID }
	// Tell tells all joined peers that the node needs no more of a batch: they hear it as
	// [Heard].
	Tell struct{ Batch int }
	// Retract takes that back: they hear it as [Lacks].
	Retract struct{ Batch int }
	// Map tells all joined peers which plain blocks of a batch the node has: they
	// hear it as [Mapped]. The set is not changed from then on.
	Map struct {
		Batch int
		Has   *pieceset.Set
	}
	// Finished says that every batch is decoded. It comes once, and not to a node
	// that was whole from the start.
	Finished struct{}
)

func (Offer) action()    {}
func (Accept) action()   {}
func (Refuse) action()   {}
func (Free) action()     {}
func (Send) action()     {}
func (Confirm) action()  {}
func (Retract) action()  {}
func (Tell) action()     {}
func (Map) action()      {}
func (Finished) action() {}
