// Package exchange is what the members of a swarm ask each other for, how it is
// sent, and how it is taken in: parts of pieces, or blocks of a coded transfer. It knows
// the words of proto and the events of mob, and no connections.
package payload

import (
	"io"
	"log/slog"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Exchange is one way to do that. Its methods may be called from any goroutine.
type Exchange interface {
	// Valid says whether a span of the content may be asked for.
	Valid(sp proto.Span) bool
	// Frame is a block as it is sent, in a buffer that is the caller's. The error is
	// [ErrAbsent], or that of reading, which has been seen to.
	Frame(to Peer, sp proto.Span) (*Buffer, error)
	// Head reads the frame of a block up to its payload, by way of room.
	Head(r io.Reader, room *[proto.CodedHeader]byte) (proto.Span, *proto.Origin, error)
	// Place begins to take in a block that was asked for. It is called by who reads
	// the channel. An error ends the swarm.
	Place(a *Arrival) error
	// Take goes on with that, in a worker, and tells the swarm what became of it.
	Take(a Arrival)
}

// ErrAbsent says that a block is not there, and cannot be made.
var ErrAbsent = coded.ErrAbsent

// Arrival is a block that was asked for and has come.
type Arrival struct {
	From   Peer
	Span   proto.Span
	Origin *proto.Origin // of a coded block
	Buf    *Buffer
	parts  []proto.Span // of Span: what was new, and is written
}

// Peer is who sent a block, or is to get one.
type Peer interface {
	ID() proto.PeerID
	// Name is for people.
	Name() string
}

// Swarm is what an exchange needs of the swarm. Its methods may be called from any
// goroutine.
type Swarm interface {
	// Post hands on an event, which is one of a peer if from is not nil. It blocks while
	// the swarm is behind.
	Post(ev mob.Event, from Peer)
	// Complain has a piece checked. It does not block.
	Complain(Complaint)
	// Fail ends the swarm because of an error of this node.
	Fail(error)
}

// Complaint is a peer's word that a piece from here was bad, or our own doubt.
type Complaint struct {
	Peer  Peer
	Piece uint32
	// Number is that of what was to be sent.
	Number uint32
}

// Config says what an exchange works with.
type Config struct {
	Swarm    Swarm
	Verifier *store.Verifier
	Store    store.Store
	Count    *Counters
	Log      *slog.Logger
}

// disk is where the generations of a coding are.
func (c *Config) disk(coding proto.Coding) coded.Disk {
	return coded.Disk{Layout: coded.NewLayout(c.Verifier.Manifest(), coding), Store: c.Store}
}

// Form is how the content of a swarm is exchanged.
type Form struct {
	Exchange
	// Coding is zero for plain pieces.
	Coding proto.Coding
	// Coded is nil unless blocks have names, and Gossip unless they go round by
	// permutations.
	Coded  *Blocks
	Gossip *Gossip
	// lane is how many numbers are taken in by one worker, in order.
	lane uint32
}

// Complaint is what a peer's Bad asks to be checked; ok is false when there is nothing to
// check, as for a coded block, for which its encoder is to blame.
func (f *Form) Complaint(from Peer, m *proto.Bad) (c Complaint, ok bool) {
	return Complaint{from, m.Piece, m.Piece}, !f.Coding.Coded()
}
