package mob

import "github.com/mobgrid/mob/proto"

// Event is something that happened at the node.
type Event interface{ event() }

// Node is a member as a tracker or a peer tells of it.
type Node struct {
	ID      proto.PeerID
	Cluster string
	// External says that the node came by a way of its own: it is never dialled, not
	// told of to others, and forgotten when it leaves.
	External bool
}

type (
	// Learned brings members that a tracker, a peer or the link told of. It may
	// be empty: also that ends the wait for a first answer.
	Learned struct{ Nodes []Node }
	// Joined says that a control stream to a peer is open, from either side. Who is
	// whole needs not be heard before it is asked.
	Joined struct {
		Node
		Whole bool
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
	// Arrived says that a block that was asked for is in the store, not yet
	// verified.
	Arrived struct {
		Peer proto.PeerID
		Span proto.Span
	}
	// Stored says that a piece is verified and on disk.
	Stored struct{ Piece int }
	// Failed says that a piece failed its hash and whose blocks it was made of.
	Failed struct {
		Piece   int
		Sources []proto.PeerID
	}
	// Lost says that a stored piece turned out to be damaged: it is not offered
	// any more. It is fetched again unless the content was whole once; from then
	// on it is the user's, and not written to.
	Lost struct{ Piece int }
	// Checked says that a piece of which Peer complained is sound.
	Checked struct {
		Peer  proto.PeerID
		Piece int
	}
	// Useless says that a block of a coded transfer, which came from Peer, was a
	// combination of those that are there.
	Useless struct {
		Peer  proto.PeerID
		Piece int
	}
	// Decoded says that a generation is whole: decoded, verified and on disk. It comes in
	// the place of Stored for the last of its blocks.
	Decoded struct{ Generation int }
	// Filled says that enough blocks of a generation have come: it is decoded now.
	Filled struct{ Generation int }
	// Polluted says that a generation failed its hashes: its blocks are dropped.
	Polluted struct{ Generation int }
	// Liar says that a node was found to have made wrong blocks.
	Liar struct{ Peer proto.PeerID }
	// Gathered says that a block of permutation gossip has come from a peer, of use or
	// not: block Block of the generation where blocks are plain.
	Gathered Push
	// Sent says that the block of a [Push] has left.
	Sent struct{ Peer proto.PeerID }
	// Tick says that time has passed.
	Tick struct{}
)

func (Learned) event()     {}
func (Joined) event()      {}
func (Left) event()        {}
func (Unreachable) event() {}
func (Received) event()    {}
func (Arrived) event()     {}
func (Stored) event()      {}
func (Failed) event()      {}
func (Lost) event()        {}
func (Checked) event()     {}
func (Useless) event()     {}
func (Decoded) event()     {}
func (Filled) event()      {}
func (Polluted) event()    {}
func (Liar) event()        {}
func (Gathered) event()    {}
func (Sent) event()        {}
func (Tick) event()        {}
