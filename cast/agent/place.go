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
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// place is the destination of a file or a directory. It exists, so the transfer takes it over.
type place struct {
	dest    string      // absolute
	existed bool        // dest existed before
	mode    fs.FileMode // of a directory that was created, once it is complete if the manifest has none; else 0
	lock    *os.File    // locks dest; nil if it cannot be read
	parent  string      // the topmost missing directory above dest, or empty

	created, complete atomic.Bool // the transfer
}

func newPlace(s *Start, name string) (p *place, err error) {
	p = new(place)
	if p.dest, err = destination(s.Dest, name, s.Dir); err != nil {
		return nil, err
	}
	p.parent = Missing(filepath.Dir(p.dest))
	if err = p.create(s.Dir, s.Force); err == nil {
		err = p.takeLock()
	}
	if err == nil && s.Dir && !p.existed {
		err = p.hide()
	}
	if err != nil {
		_ = p.discard(nil) // err is the reason
		return nil, p.explain(err)
	}
	return p, nil
}

// create creates the destination, or checks that the one that exists may be replaced.
func (p *place) create(dir, force bool) error {
	if err := os.MkdirAll(filepath.Dir(p.dest), 0o777); err != nil {
		return err
	}
	var err error
	if dir {
		err = os.Mkdir(p.dest, 0o755)
	} else if f, failed := os.OpenFile(p.dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); failed == nil {
		err = f.Close()
	} else {
		err = failed
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	p.existed = true
	info, err := os.Lstat(p.dest)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() && !info.IsDir():
		return errKind(p.dest, special)
	case dir && !info.IsDir():
		return errKind(p.dest, "a file")
	case !dir && info.IsDir():
		return errKind(p.dest, "a directory")
	case !force && dir:
		return fmt.Errorf("%w, or copy into it with a slash at the end of DEST", errExists(p.dest))
	case !force:
		return errExists(p.dest)
	}
	return nil
}

// takeLock fails if another cast writes to the destination. File systems without locks have none.
func (p *place) takeLock() (err error) {
	if p.lock, err = os.OpenFile(p.dest, os.O_RDONLY|syscall.O_NOFOLLOW, 0); err != nil {
		return nil //nolint:nilerr // the transfer reports what it cannot do
	}
	if errors.Is(syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return errors.Join(fmt.Errorf("another cast writes to %s", p.dest), p.lock.Close())
	}
	return nil
}

// hide makes a new directory private until it is complete. It changes what takeLock opened: another user may have put a link in its
// place.
func (p *place) hide() error {
	if p.lock == nil {
		return nil // the transfer returns the error
	}
	info, err := p.lock.Stat()
	if err != nil {
		return err
	}
	p.mode = info.Mode()
	return p.lock.Chmod(p.mode &^ 0o077)
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
		dest += "/" + name
	}
	return vfs.Abs(dest)
}

// Missing returns the topmost missing directory on the path of dir, or an empty string.
func Missing(dir string) (top string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return top
		}
		top = dir
	}
}

// RemoveEmpty removes the empty directories above path, up to top.
func RemoveEmpty(path, top string) {
	if top == "" {
		return
	}
	for dir := filepath.Dir(path); len(dir) >= len(top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// outcome records that the transfer of a manifest is complete, or returns the error with a hint.
func (p *place) outcome(m *proto.Manifest, err error) error {
	if err == nil && p.mode != 0 && m.Root == nil && p.lock != nil {
		err = p.lock.Chmod(p.mode)
	}
	p.complete.Store(err == nil)
	return p.explain(err)
}

// overwriting reports whether existing files may be partly overwritten.
func (p *place) overwriting() bool { return p.existed && p.created.Load() && !p.complete.Load() }

// discard removes an incomplete transfer, and releases the destination. It leaves existing files, of which parts may be overwritten.
func (p *place) discard(remove func() error) (err error) {
	if p.lock != nil {
		defer p.lock.Close()
	}
	if p.complete.Load() || p.existed {
		return nil
	}
	if p.created.Load() {
		err = remove()
	}
	is, failed := os.Lstat(p.dest)
	if own, _ := p.lock.Stat(); failed == nil && os.SameFile(own, is) { // else another program has replaced it
		failed = os.Remove(p.dest)
	}
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		err = errors.Join(err, failed)
	}
	RemoveEmpty(p.dest, p.parent)
	return err
}

// explain returns an error with a hint for casts.
func (p *place) explain(err error) error {
	var room *peer.NoRoomError
	switch {
	case errors.As(err, &room):
		return fmt.Errorf("%s needs %s and the disk has less free: free disk space, or choose another path", p.dest,
			humanize.Bytes(uint64(room.Need))) // the free space differs between hosts
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return explainWrite(p.dest, err)
	}
	return err
}

// special describes a destination that is neither a file nor a directory.
const special = "a link or a special file"

// errKind returns the error for a destination of another kind than the content.
func errKind(dest, kind string) error {
	return fmt.Errorf("%s exists and is %s: remove it or choose another path", dest, kind)
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
	if why, ok := errors.AsType[syscall.Errno](err); ok { // without the temporary name
		err = why
	}
	return fmt.Errorf("write %s: %w", dest, err)
}
