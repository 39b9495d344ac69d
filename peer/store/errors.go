package store

import (
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer/store/journal"
)

var (
	// ErrReadOnly answers a write to a content that is whole or seeded.
	ErrReadOnly = errors.New("the content is not open for writing")
	// ErrVerified answers a write that touches a verified piece. The bytes
	// there are good, so a late duplicate is dropped.
	ErrVerified = errors.New("the piece is verified already")
	// ErrNotWhole answers Finish while pieces are missing or doubtful.
	ErrNotWhole = errors.New("the content is not whole yet")
	// ErrNoJournal answers [Open] when the state folder has no journal, or one
	// that cannot be read at all. For a get, [Adopt] starts anew from the files
	// there are; for a seed, [Scan] and [Seed] do.
	ErrNoJournal = journal.ErrNone
	// ErrWrongContent answers [Open] when the journal is of another content.
	ErrWrongContent = journal.ErrOther
	// ErrGone answers [Open] when the destination is not there any more although
	// pieces were in it.
	ErrGone = errors.New("the content is gone: put it back, or remove the transfer and start it again")
)

// errNotShareable ends a sentence that begins with a path.
var errNotShareable = errors.New("is not a file, a folder or a symbolic link: remove it or share another folder")

// ExistsError answers [Create] when there is something at the destination.
type ExistsError struct {
	// Path is the destination.
	Path string
	// Dir says that a folder is there.
	Dir bool
	// Name is the content's name when it is a single file, else empty.
	Name string
}

// Error says what to do about it.
func (e *ExistsError) Error() string {
	if e.Dir && e.Name != "" {
		return fmt.Sprintf("%s is a folder and the content is a single file: give the path of the file itself, such as %s/%s", e.Path, e.Path, e.Name)
	}
	return fmt.Sprintf("%s exists already: remove it or choose another path", e.Path)
}

// ChangedError answers an operation that found a file of the content not as the
// store left it. Opening the store again makes its pieces doubtful.
type ChangedError struct {
	// Path is the file.
	Path string
	// Reason says what is different about it.
	Reason string
	// Err is the cause, if there is one.
	Err error
}

// Error says which file, and how it changed.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by another program: %s", e.Path, e.Reason)
}

// Unwrap is the cause: [io/fs.ErrNotExist] when the file is gone.
func (e *ChangedError) Unwrap() error { return e.Err }
