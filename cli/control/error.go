package control

import (
	"errors"
	"net/http"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
)

// Code is the kind of an Error.
type Code string

// The codes.
const (
	CodeFailed  Code = "failed"
	CodeRequest Code = "bad_request"
	CodeUnknown Code = "unknown_transfer"
	CodeStopped Code = "stopped"
	CodeExists  Code = "exists" // something is at the destination
	CodeDenied  Code = "denied" // only the owner of the daemon may
)

// Error is a failure that the daemon reports.
type Error struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Is makes errors from the socket match the errors of package peer.
func (e *Error) Is(target error) bool {
	return e.Code == CodeUnknown && target == peer.ErrUnknownTransfer ||
		e.Code == CodeStopped && target == peer.ErrStopped
}

// httpStatus returns the status of an answer with the error.
func (e *Error) httpStatus() int {
	switch e.Code {
	case CodeUnknown:
		return http.StatusNotFound
	case CodeDenied:
		return http.StatusForbidden
	case CodeRequest:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// newError returns the form of err on the socket.
func newError(err error) *Error {
	var e *Error
	var exists *store.ExistsError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, peer.ErrUnknownTransfer):
		return &Error{CodeUnknown, err.Error()}
	case errors.As(err, &exists) && !exists.Inside:
		return &Error{CodeExists, err.Error()}
	case errors.Is(err, peer.ErrStopped):
		return &Error{CodeStopped, err.Error()}
	}
	return &Error{CodeFailed, err.Error()}
}
