package payload

import (
	"errors"
	"io"
	"log/slog"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Codec turns requests into frames, and frames into verified pieces. There is one for
// plain pieces and one for each kind of coded blocks. Its methods may be called from any
// goroutine.
//
// A block that arrives passes ReadHeader, Write and Verify, in this order.
type Codec interface {
	// Valid reports whether a peer may request a span.
	Valid(sp proto.Span) bool
	// Encode returns the frame of a block that is sent to a peer. The caller releases the
	// buffer. It fails with [ErrAbsent] if the node does not have the block. If the block
	// cannot be read, it has the piece checked and returns the error. It may wait for the
	// disk.
	Encode(to Peer, sp proto.Span) (*Buffer, error)
	// ReadHeader reads the frame of a block up to its payload.
	ReadHeader(r io.Reader, h *Header) error
	// Write accepts a requested block, writes it if it need not be verified first and is written
	// fast, and sets the block's lane. The reader of the channel calls it. An error is this
	// node's, such as a full disk, and ends the swarm.
	Write(b *Block) error
	// Verify hashes or decodes a block after Write, writes the bytes that Write left, commits the pieces that it completes,
	// and posts the outcome. A worker calls it, for the blocks of one lane in order.
	Verify(b *Block)
	// Discard drops the received part of a piece, for a [mob.Discard], and posts that it failed.
	// The worker of its lane calls it.
	Discard(piece int)
	// Numbers returns the numbers that depend on a piece: its own, or coded blocks.
	Numbers(piece int) proto.Range
	// Restore posts the numbers that are available again because a damaged piece was replaced.
	Restore(piece int)
	// Forget posts the numbers that are no longer available because of a damaged piece, which
	// the store has forgotten already.
	Forget(piece int)
}

// Pusher is a Codec of blocks that are sent without requests, as a [mob.Push] says.
type Pusher interface {
	Codec
	// Push returns the span for Encode to make the block of a push.
	Push(p mob.Push) proto.Span
}

// ErrAbsent reports a block that the node does not have and cannot make.
var ErrAbsent = errors.New("block not available")

// Header is the result of [Codec.ReadHeader]. It is reused for the next block.
type Header struct {
	// Span identifies the block. Its Length is the length of the payload.
	Span proto.Span
	// Origin has the encoder of a coded block.
	Origin proto.Origin
	// Scratch is room for reading.
	Scratch [proto.CodedHeader]byte
}

// Block is a block that arrived.
type Block struct {
	From   Peer
	Span   proto.Span
	Origin proto.Origin // see Header
	Made   bool         // it was requested of From as a block that From makes itself
	Buf    *Buffer      // the payload
	// Lane is the piece or generation of the block. Write sets it.
	Lane uint32

	fresh []proto.Span // the parts of Span that are not duplicates
	later bool         // Verify writes them, not Write
}

func (b *Block) release() {
	if b.Buf != nil {
		b.Buf.Release()
	}
}

// Peer is the peer that a block comes from or goes to, by one connection.
type Peer interface{ ID() proto.PeerID }

// Swarm is the interface of a swarm to its Codec. Its methods may be called from any goroutine.
type Swarm interface {
	// Post hands an event to the strategy. If from is not nil, the event is about that
	// peer, and is dropped if the peer's connection has ended. Post blocks while the
	// strategy is behind.
	Post(ev mob.Event, from Peer)
	// Knows reports whether a node is connected, or a tracker named it. It does not block.
	Knows(id proto.PeerID) bool
	// Suspect requests a check of a piece. It does not block.
	Suspect(s Suspicion)
	// Fail ends the swarm because of an error of this node.
	Fail(err error)
}

// Suspicion reports that a stored piece may be damaged: a peer received a bad block of it, or it
// could not be read.
type Suspicion struct {
	// Peer requested the block. ByPeer is set if the peer sent a Bad for it.
	Peer   Peer
	ByPeer bool
	Piece  uint32
	// Number is the number of the requested block: the piece, or a coded block.
	Number uint32
}

// Config configures a Codec.
type Config struct {
	Swarm    Swarm
	Verifier *store.Verifier
	Store    store.Store
	Counters *Counters
	Log      *slog.Logger
}
