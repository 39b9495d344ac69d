package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
)

// place is the destination of a file or a directory.
type place struct {
	dest    string // absolute
	force   bool
	dir     bool   // the content is a directory
	existed bool   // dest existed before
	parent  string // the topmost missing directory above dest, or empty

	created, complete atomic.Bool // the transfer
}

func newPlace(s *Start, name string) (p *place, err error) {
	p = &place{force: s.Force, dir: s.Dir}
	if p.dest, err = destination(s.Dest, name, s.Dir); err != nil {
		return nil, err
	}
	_, err = os.Lstat(p.dest)
	p.existed = err == nil
	p.parent = missing(filepath.Dir(p.dest))
	return p, nil
}

// destination returns the absolute path for [Start.Dest].
func destination(dest, name string, dir bool) (string, error) {
	info, err := os.Stat(dest)
	switch {
	case dest == "":
		dest = name
	case strings.HasSuffix(dest, "/") || !dir && err == nil && info.IsDir():
		if name == "" {
			return "", fmt.Errorf("%s is a directory: name the file", dest)
		}
		dest = filepath.Join(dest, name)
	}
	return filepath.Abs(dest)
}

// missing returns the topmost missing directory on the path of dir, or an empty string.
func missing(dir string) (top string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return top
		}
		top = dir
	}
}

// removeEmpty removes the empty directories above path, up to top.
func removeEmpty(path, top string) {
	if top == "" {
		return
	}
	for dir := filepath.Dir(path); len(dir) >= len(top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// outcome records that the transfer is complete, or returns the error with a hint.
func (p *place) outcome(err error) error {
	p.complete.Store(err == nil)
	return p.explain(err)
}

// overwriting reports whether existing files may be partly overwritten.
func (p *place) overwriting() bool { return p.existed && p.created.Load() && !p.complete.Load() }

// discard removes an incomplete transfer. It leaves existing files, of which parts may be overwritten.
func (p *place) discard(remove func() error) (err error) {
	if p.complete.Load() {
		return nil
	}
	if p.created.Load() && !p.existed {
		err = remove()
	}
	removeEmpty(p.dest, p.parent)
	return err
}

// explain returns an error with a hint for casts.
func (p *place) explain(err error) error {
	var exists *store.ExistsError
	var room *peer.NoRoomError
	switch {
	case errors.As(err, &exists) && !p.force && p.dir:
		return fmt.Errorf("%w, or copy into it with a slash at the end of DEST", errExists(p.dest))
	case errors.As(err, &exists) && !p.force:
		return errExists(p.dest)
	case errors.As(err, &room):
		return fmt.Errorf("%s needs %s and the disk has less free: free disk space, or choose another path", p.dest,
			humanize.Bytes(uint64(room.Need))) // the free space differs between hosts
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return explainWrite(p.dest, err)
	}
	return err
}

// errExists returns the error for an existing destination.
func errExists(dest string) error {
	return fmt.Errorf("%s exists already: replace it with --force", dest)
}

// explainWrite returns the error for a destination that could not be written.
func explainWrite(dest string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk is full: %s does not fit", dest)
	}
	var why syscall.Errno
	if errors.As(err, &why) { // without the temporary name
		err = why
	}
	return fmt.Errorf("write %s: %w", dest, err)
}
