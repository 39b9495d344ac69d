package exchange

import (
	"io"

	"github.com/mobgrid/mob/proto"
)

// Dialect is how a swarm speaks with one peer: of the same numbers and in the same
// frames, or of plain pieces with one that codes the content in another way, or not
// at all. Its methods may be called from any goroutine.
type Dialect struct {
	form     *Form
	border   *border // nil for the same
}

// Features are the bits of the own Hello.
func (f *Form) Features() uint64 {
	return f.Coding.Features()
}

// Dialect is that for a peer whose Hello has these features.
func (f *Form) Dialect(features uint64) Dialect {
	if f.Coded == nil || f.Coding.Agrees(features) {
		return Dialect{form: f}
	}
	plain := Plain(f.Coded.Config)
	return Dialect{f, &border{f.Coded, plain.Exchange}}
}

// frames is who knows the peer's frames.
func (d Dialect) frames() Exchange {
	if d.border != nil {
		return d.border.plain
	}
	return d.form.Exchange
}

// Same says whether the peer speaks of the same numbers.
func (d Dialect) Same() bool { return d.border == nil }

// Valid says whether the peer may ask for a span.
func (d Dialect) Valid(sp proto.Span) bool { return d.frames().Valid(sp) }

// Frame is a block for the peer, see [Exchange].
func (d Dialect) Frame(to Peer, sp proto.Span) (*Buffer, error) { return d.frames().Frame(to, sp) }

// Head reads the head of a frame of the peer's, see [Exchange].
func (d Dialect) Head(r io.Reader, room *[proto.CodedHeader]byte) (proto.Span, *proto.Origin, error) {
	return d.frames().Head(r, room)
}

// Hear gives what a message of the peer says to the State, nil for nothing.
func (d Dialect) Hear(m proto.Message) proto.Message {
	if d.border != nil {
		return d.border.hear(m)
	}
	return m
}

// Say gives the message that says to the peer what the State says, nil for none.
func (d Dialect) Say(m proto.Message) proto.Message {
	switch have, ok := m.(*proto.Have); {
	case d.border != nil:
		return d.border.say(m)
	case ok && d.form.Coded != nil:
		return d.form.Coded.tellable(have)
	}
	return m
}

// Came makes an arrival of what came from the peer in a frame.
func (d Dialect) Came(a *Arrival) {
	if d.border != nil {
		d.border.came(a)
	}
}

// Complaint is what the peer says of a bad piece; ok is false when there is nothing to
// check: a coded block is its encoder's affair.
func (d Dialect) Complaint(from Peer, m *proto.Bad) (c Complaint, ok bool) {
	if d.border != nil {
		return d.border.complaint(from, m)
	}
	return Complaint{from, m.Piece, m.Piece}, !d.form.Coding.Coded()
}

// InPieces is how many pieces the peer has, by how many numbers it has of all.
func (d Dialect) InPieces(have, all, pieces int) int {
	switch {
	case !d.form.Coding.Coded():
		return have
	case d.border != nil:
		have *= proto.CodedNames
	}
	return have * pieces / max(all, 1)
}
