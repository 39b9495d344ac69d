package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// target is the destination file of a stream. It has a temporary name in the same directory until it is complete.
type target struct {
	file   *os.File
	dest   string
	force  bool
	was    fs.FileInfo // the file that it replaces, or nil
	parent string      // the topmost directory that was created for it, or empty
}

// createTarget creates the file for [Start.Dest].
func createTarget(dest string, force bool) (*target, error) {
	dest, err := destination(dest, "", false)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(dest)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, errKind(dest, special)
	case err == nil && !force:
		return nil, errExists(dest)
	}
	t := &target{dest: dest, force: force, parent: Missing(filepath.Dir(dest))}
	mode := fs.FileMode(0o644)
	if err == nil {
		t.was, mode = info, 0o600 // until it replaces the file
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		RemoveEmpty(dest, t.parent)
		return nil, err
	}
	name := filepath.Join(filepath.Dir(dest), fmt.Sprintf(".mob-%016x", rand.Uint64()))
	t.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		RemoveEmpty(dest, t.parent)
		return nil, fmt.Errorf("create %s: %w", dest, errors.Unwrap(err))
	}
	return t, nil
}

// Write implements [io.Writer].
func (t *target) Write(b []byte) (int, error) {
	n, err := t.file.Write(b)
	if err != nil {
		err = explainWrite(t.dest, err)
	}
	return n, err
}

// over implements [consumer].
func (t *target) over() <-chan error { return nil }

// finish implements [consumer]. It flushes the file and renames it into place.
func (t *target) finish(context.Context) error {
	err := errors.Join(t.keepMode(), t.file.Sync(), t.file.Close())
	if err != nil {
		err = explainWrite(t.dest, err)
	} else if err = t.publish(); err == nil {
		if err = vfs.SyncDir(vfs.OS{}, filepath.Dir(t.dest)); errors.Is(err, fs.ErrPermission) {
			err = nil // a directory may be writable and not readable
		}
	}
	if err != nil {
		t.kill()
	}
	return err
}

// keepMode copies the mode and, as root, the owner of the file that it replaces.
func (t *target) keepMode() error {
	if t.was == nil {
		return nil
	}
	if st, ok := t.was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := t.file.Chown(int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return t.file.Chmod(t.was.Mode().Perm())
}

// publish renames the file into place. Without force it fails if that exists.
func (t *target) publish() error {
	if t.force {
		return os.Rename(t.file.Name(), t.dest)
	}
	err := os.Link(t.file.Name(), t.dest)
	switch {
	case err == nil:
		return os.Remove(t.file.Name())
	case errors.Is(err, fs.ErrExist):
		return errExists(t.dest)
	}
	// Some file systems have no links.
	if _, err := os.Lstat(t.dest); err == nil {
		return errExists(t.dest)
	}
	return os.Rename(t.file.Name(), t.dest)
}

// kill implements [consumer].
func (t *target) kill() {
	_ = t.file.Close()
	_ = os.Remove(t.file.Name())
	RemoveEmpty(t.dest, t.parent)
}
