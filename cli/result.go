package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// result writes to standard output and keeps the first error, for writers that do not return it.
type result struct {
	out io.Writer
	err error
}

// Write implements [io.Writer].
func (r *result) Write(b []byte) (int, error) {
	n, err := r.out.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

var errNoOut = errors.New("standard output is closed, and what the command prints would be lost: " +
	"redirect it, to /dev/null if it is not wanted")

// checkOut fails if standard output was closed when the process started. Go's runtime opens
// /dev/null in its place, for reading and writing, where a shell's redirection only writes.
func (env *Env) checkOut() error {
	f, ok := env.Out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(info, null) {
		return nil //nolint:nilerr // then it is another file
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	flags := 0
	if e := conn.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); e != nil {
		return e
	}
	if err == nil && flags&unix.O_ACCMODE == unix.O_RDWR {
		err = errNoOut
	}
	return err
}
