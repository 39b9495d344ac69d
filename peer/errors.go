package peer

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrUnknownTransfer answers a call that names a transfer which is not here.
	ErrUnknownTransfer = errors.New("no such transfer: see `mob ls`")
	// ErrStopped is why a transfer that was stopped has ended.
	ErrStopped = errors.New("stopped; `mob get` the link again to go on")
	// errClosing is why the transfers of a node that shuts down end.
	errClosing = errors.New("the daemon shuts down")
	// errNoContent answers a call with a link that has no content id.
	errNoContent = errors.New("the link names no content")
	// errRestart is why a transfer ends that starts again at once.
	errRestart = errors.New("the transfer starts again")
)

// ElsewhereError answers a get of a content that is here at another place.
type ElsewhereError struct{ Root string }

// Error implements error.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the content is already at %s: use it there, or `mob rm` it first", e.Root)
}

// explain puts what to do next to an error that ended a transfer.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full (%w): make room and get the link again, what is there is kept", err)
	case errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk quota is used up (%w): make room and get the link again, what is there is kept", err)
	}
	return err
}
