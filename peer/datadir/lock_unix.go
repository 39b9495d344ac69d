//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// InUseError is returned by [Lock] if another process has locked the directory.
type InUseError struct{ Dir string }

// Error implements error.
func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by another daemon: stop that one, or choose another --data", e.Dir)
}

// Lock locks a data directory for this process, until the file is closed or the process
// ends. It does not wait: it fails with an [*InUseError] if another process has the lock.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &InUseError{Dir: dir}
	}
	return nil, fmt.Errorf("cannot lock %s: %w: choose another --data, on a file system with locks", dir, err)
}
