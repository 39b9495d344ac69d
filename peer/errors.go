package peer

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer/store"
)

var (
	// ErrUnknownTransfer is returned if the node has no transfer of the given name.
	ErrUnknownTransfer = errors.New("no such transfer: see `mob ls`")
	// ErrStopped is the error of a transfer that [Transfer.Stop] or [Node.Remove] ended.
	ErrStopped   = errors.New("stopped; `mob get` the link again to resume it")
	errClosing   = errors.New("the daemon shuts down: start it again, then run the same command")
	errNoContent = errors.New("the link names no content")
	// errRestart ends a run before another.
	errRestart = errors.New("the transfer starts again")
)

// ElsewhereError is returned by [Node.Get] and [Node.Seed] if the content has a transfer at
// another path.
type ElsewhereError struct {
	Root string // the path of the content, empty if another user started the transfer
}

// Error implements error.
func (e *ElsewhereError) Error() string {
	if e.Root == "" {
		return "the content is already at a path of another user, who may `mob rm` it"
	}
	return fmt.Sprintf("the content is already at %s: use it there, or `mob rm` it first", e.Root)
}

// DifferentError reports entries that a get found to differ from the content, and does not write to.
type DifferentError struct {
	State store.State
	// Seed is set if the content was seeded here.
	Seed bool
}

// Error implements error.
func (e *DifferentError) Error() string {
	d := e.State.Different
	var names []string
	for _, d := range d[:min(len(d), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", d.Path, d.What))
	}
	if more := len(d) + e.State.More - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	advice := "remove them and get the link again"
	if e.Seed {
		advice = "the content was seeded here, so put them back as they were"
	}
	return fmt.Sprintf("changed since the content was complete: %s: %s", strings.Join(names, ", "), advice)
}

// NoRoomError reports that what is left to fetch does not fit on the disk. It wraps
// [syscall.ENOSPC].
type NoRoomError struct {
	Path       string // of the content
	Need, Free int64  // bytes
}

// Error implements error.
func (e *NoRoomError) Error() string {
	return fmt.Sprintf("%s needs %s and the disk has %s free: make room for %s more, or choose another path",
		e.Path, humanize.Bytes(uint64(e.Need)), humanize.Bytes(uint64(e.Free)), humanize.Bytes(uint64(e.Need-e.Free)))
}

// Unwrap returns the error of the system that would follow.
func (e *NoRoomError) Unwrap() error { return syscall.ENOSPC }

// explain adds advice to the error of a transfer that failed.
func explain(err error) error {
	var noRoom *NoRoomError
	switch {
	case errors.As(err, &noRoom):
		return noRoom
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full (%w): make room and get the link again, what is there is kept", err)
	case errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk quota is used up (%w): make room and get the link again, what is there is kept", err)
	}
	return err
}

// oneLine joins the lines of a text, such as a joined error.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}
