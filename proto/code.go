package proto

import "fmt"

// Code says why a peer or a tracker ended a stream. Codes are only appended.
type Code uint8

// The codes of a [Goodbye].
const (
	// CodeLeaving: the transfer was stopped or the daemon shuts down.
	CodeLeaving Code = 1
	// CodeUnknownSwarm: the content asked for is not here.
	CodeUnknownSwarm Code = 2
	// CodeDuplicate: another stream for the same swarm and peer is kept.
	CodeDuplicate Code = 3
	// CodeProtocol: the other side broke the protocol.
	CodeProtocol Code = 4
	// CodeBusy: a limit of the daemon or the tracker is reached.
	CodeBusy Code = 5
	// CodeBanned: too many pieces from the other side failed their hash.
	CodeBanned Code = 6
	// CodeExcluded: the swarm is not for the other side as it is.
	CodeExcluded Code = 7
)

// RemoteError is a [Goodbye] as an error.
type RemoteError struct {
	Code Code
	Text string
}

// Error implements error.
func (e *RemoteError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the other side ended the stream (code %d)", e.Code)
	}
	return e.Text
}
