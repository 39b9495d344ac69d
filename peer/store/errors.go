package store

import (
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer/store/journal"
)

var (
	// ErrReadOnly is returned by writes to content that is complete or seeded.
	ErrReadOnly = errors.New("content is read-only")
	// ErrVerified is returned by writes to a verified piece. The bytes there are
	// good: what was to be written is a late duplicate.
	ErrVerified = errors.New("piece is already verified")
	// ErrNotWhole is returned by Publish and Finish if pieces are missing or
	// unverified.
	ErrNotWhole = errors.New("content is not complete")
	// ErrNoJournal is returned by [Open] if the state directory has no readable
	// journal. [Again] then starts from the files at the destination of a
	// transfer; [Scan] and [Seed] start a seed again.
	ErrNoJournal = journal.ErrNone
	// ErrWrongContent is returned by [Open] if the journal belongs to other content.
	ErrWrongContent = journal.ErrOther
	// ErrGone is returned by [Open] if the destination does not exist although
	// pieces were written to it.
	ErrGone = errors.New("the content is gone: put it back, or remove the transfer and start it again")
	// ErrAway is the cause of an [UnreadableError] if the path of the content leads to other files than the store has open.
	ErrAway = errors.New("it was moved, replaced or unmounted: put it back")
)

// errNotShareable follows a path.
var errNotShareable = errors.New("is not a file, a directory or a symbolic link: remove it or share another directory")

// UnreadableError reports an existing file that cannot be read at present: the
// disk or the network fails, there are no descriptors left, or the rights are missing.
// Its pieces may be good. A later read may succeed.
type UnreadableError struct {
	// Path is the file.
	Path string
	// Err is the cause.
	Err error
}

// cannotRead returns an [*UnreadableError] with the cause of an error about a path.
func cannotRead(path string, err error) error { return &UnreadableError{path, withoutPath(err)} }

// Error names the file and the cause.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s cannot be read at present: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ExistsError is returned by [Create] if the destination exists, and by writes and Publish if a file or link in it exists
// that the store neither created nor took over.
type ExistsError struct {
	// Path names the existing file.
	Path string
	// Inside reports that it is in the destination.
	Inside bool
	// OtherKind reports that it is a link, a directory or another kind than the entry of the content, so it cannot be taken
	// over.
	OtherKind bool
	// Dir reports that it is a directory.
	Dir bool
	// Name is the content's name if it is a single file, else empty.
	Name string
}

// Error names the destination and a way out.
func (e *ExistsError) Error() string {
	if e.Dir && e.Name != "" {
		return fmt.Sprintf("%s is a directory and the content is a single file: "+
			"give the path of the file itself, such as %s/%s", e.Path, e.Path, e.Name)
	}
	if e.OtherKind {
		return e.Path + " exists and is another kind of file than the content has there: move it away"
	}
	if e.Inside {
		return fmt.Sprintf("%s exists and was not created by this transfer: move it away, or take it over with "+
			"`mob get --reuse`", e.Path)
	}
	return fmt.Sprintf("%s exists already: remove it or choose another path", e.Path)
}

// ChangedError reports a file of the content that is not as the store left it. Opening
// the store again makes its pieces unverified.
type ChangedError struct {
	// Path is the file.
	Path string
	// Reason is how it differs.
	Reason string
	// Err is the cause, or nil.
	Err error
}

// Error names the file and how it differs.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by another program: %s", e.Path, e.Reason)
}

// Unwrap returns the cause: [io/fs.ErrNotExist] if the file was removed.
func (e *ChangedError) Unwrap() error { return e.Err }
