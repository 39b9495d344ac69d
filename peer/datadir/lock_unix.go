//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// InUseError is returned by [Lock] if another process has locked the directory.
type InUseError struct{ Dir string }

// Error implements error.
func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by another daemon or command: stop that one, or choose another --data", e.Dir)
}

// lock is the file of a data directory that is locked.
type lock struct{ *os.File }

// Close unlocks the directory, also if a process that is being started has the file open still.
func (l lock) Close() error {
	if c, err := l.SyscallConn(); err == nil { // it is not closed
		_ = c.Control(func(fd uintptr) { _ = unix.Flock(int(fd), unix.LOCK_UN) }) // closing it unlocks it, too
	}
	return l.File.Close()
}

// Lock locks a data directory for this process, until it is closed or the process
// ends. It does not wait: it fails with an [*InUseError] if another process has the lock.
func Lock(dir string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return lock{f}, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &InUseError{Dir: dir}
	}
	return nil, fmt.Errorf("cannot lock %s: %w: choose another --data, on a file system with locks", dir, err)
}
