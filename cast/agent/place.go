package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
)

// place is where a file or a folder goes.
type place struct {
	dest    string // absolute
	force   bool
	dir     bool   // the content is a directory
	existed bool   // something was at dest before
	parent  string // the topmost folder above dest that is not there yet, or empty
}

func newPlace(s *Start, name string) (p place, err error) {
	p.force, p.dir = s.Force, s.Dir
	if p.dest, err = destination(s.Dest, name, s.Dir); err != nil {
		return p, err
	}
	_, err = os.Lstat(p.dest)
	p.existed = err == nil
	p.parent = missing(filepath.Dir(p.dest))
	return p, nil
}

// destination returns the absolute path of a content, see [Start.Dest].
func destination(dest, name string, dir bool) (string, error) {
	info, err := os.Stat(dest)
	switch {
	case dest == "":
		dest = name
	case strings.HasSuffix(dest, "/") || !dir && err == nil && info.IsDir():
		if name == "" {
			return "", fmt.Errorf("%s is a folder: name the file", dest)
		}
		dest = filepath.Join(dest, name)
	}
	return filepath.Abs(dest)
}

// missing returns the topmost folder on the way to dir that is not there, empty if dir is.
func missing(dir string) (top string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return top
		}
		top = dir
	}
}

// removeEmpty removes folders that were made on the way to path, as far as nothing is in them.
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

// explain puts an error in the words of a cast, of which nothing is kept.
func (p *place) explain(err error) error {
	var exists *store.ExistsError
	var room *peer.NoRoomError
	switch {
	case errors.As(err, &exists) && !p.force && p.dir:
		return fmt.Errorf("%w, or copy into it with a slash at the end of DEST", errExists(p.dest))
	case errors.As(err, &exists) && !p.force:
		return errExists(p.dest)
	case errors.As(err, &room):
		return fmt.Errorf("%s needs %s and the disk has less free: make room, or choose another path", p.dest,
			humanize.Bytes(uint64(room.Need))) // how much less is not the same on all hosts
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return explainWrite(p.dest, err)
	}
	return err
}

// errExists is the error of a destination that is there already.
func errExists(dest string) error {
	return fmt.Errorf("%s exists already: replace it with --force", dest)
}

// explainWrite says why a destination could not be written, of which nothing is kept.
func explainWrite(dest string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk is full: %s does not fit", dest)
	}
	var why syscall.Errno
	if errors.As(err, &why) { // without the name that the file has till then
		err = why
	}
	return fmt.Errorf("cannot write %s: %w", dest, err)
}
