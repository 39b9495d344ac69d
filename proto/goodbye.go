package proto

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Goodbye ends a control stream with a reason. On a manifest, torrent or tracker stream it
// rejects the request.
type Goodbye struct {
	_ struct{} `cbor:",toarray"`
	// Code is for programs, which treat an unknown one as a failure.
	Code Code
	// Text is for people: UTF-8, at most [MaxText] bytes, may be empty.
	Text string
}

func (m *Goodbye) check() error {
	if len(m.Text) > MaxText {
		return fmt.Errorf("text of %d bytes, at most %d", len(m.Text), MaxText)
	}
	if !utf8.ValidString(m.Text) {
		return errors.New("text is not valid UTF-8")
	}
	return nil
}

// Code is a node's or a tracker's reason for ending a stream. Codes are only appended.
type Code uint8

// The codes of a [Goodbye].
const (
	// CodeLeaving: the sender stops the transfer or shuts down.
	CodeLeaving Code = 1
	// CodeUnknownSwarm: the sender does not have this content.
	CodeUnknownSwarm Code = 2
	// CodeDuplicate: another stream of the same swarm and peer is kept.
	CodeDuplicate Code = 3
	// CodeProtocol: the receiver broke the protocol.
	CodeProtocol Code = 4
	// CodeBusy: the sender is at one of its limits.
	CodeBusy Code = 5
	// CodeBanned: too many pieces from the receiver failed their hash.
	CodeBanned Code = 6
	// CodeExcluded: the swarm does not accept the receiver, which is in another cluster
	// or uses another strategy.
	CodeExcluded Code = 7
	// CodeNoMember: the sender takes part in a network, and the receiver has not shown that
	// it does too.
	CodeNoMember Code = 8
)

// RemoteError is a received [Goodbye] as an error.
type RemoteError Goodbye

// Error implements error.
func (e *RemoteError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the other side ended the stream (code %d)", e.Code)
	}
	return e.Text
}

// CodeOf returns the code of the [RemoteError] that an error wraps, 0 if there is none.
func CodeOf(err error) Code {
	if remote, ok := errors.AsType[*RemoteError](err); ok {
		return remote.Code
	}
	return 0
}
