package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// checkedWriter writes to standard output and keeps the first error, for writers that do not return it.
type checkedWriter struct {
	out io.Writer
	err error
}

// Write implements [io.Writer].
func (r *checkedWriter) Write(b []byte) (int, error) {
	n, err := r.out.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

var (
	errNoOut = errors.New("standard output is closed, or /dev/null that is open for reading too, and what the command prints would be lost: " +
		"redirect it, with >/dev/null if it is not wanted")
	errNoIn = errors.New("standard input is closed, or /dev/null that is open for writing too: redirect it, with </dev/null if it is to be empty")
)

// CheckOut fails if standard output was closed when the process started.
func (env *Env) CheckOut() error { return checkOpened(env.Out, errNoOut) }

// CheckIn fails if standard input was closed when the process started.
func (env *Env) CheckIn() error { return checkOpened(env.In, errNoIn) }

// checkOpened returns closed if file is one that was closed when the process started. Go's runtime opens
// /dev/null in its place, for reading and writing, where a shell's redirection does one of these. Some programs open it so for the
// programs that they start, as subprocess.DEVNULL of Python does: only commands whose output must not be lost check it.
func checkOpened(file any, closed error) error {
	f, ok := file.(*os.File)
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
		err = closed
	}
	return err
}

// Overwrite writes a file at a path that the user gives. An existing file, pipe or device keeps its
// identity. If path leads to standard output, the bytes go there.
func (env *Env) Overwrite(path string, b []byte) error {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return env.OverwriteFile(path, info, b)
}

// OverwriteFile is Overwrite for what info describes, nil if nothing was at path. It fails if path now leads to another file.
func (env *Env) OverwriteFile(path string, info fs.FileInfo, b []byte) error {
	flags := os.O_WRONLY
	switch {
	case info == nil:
		flags |= os.O_CREATE
	case env.IsOut(info):
		_, err := env.Out.Write(b)
		return err
	}
	open := os.OpenFile
	if info != nil && info.Mode()&fs.ModeNamedPipe != 0 {
		open = openPipe
	}
	f, err := open(path, flags, 0o666)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	switch {
	case err == nil && info != nil && !os.SameFile(info, now):
		err = fmt.Errorf("%s was replaced by another program", path)
	case err == nil && now.Mode().IsRegular():
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(b)
	}
	return errors.Join(err, f.Close())
}

// readerTimeout is the time for another program to open a pipe for reading.
const readerTimeout = 10 * time.Second

// openPipe opens a named pipe for writing. An open that blocks cannot be interrupted.
func openPipe(path string, flags int, mode fs.FileMode) (*os.File, error) {
	for end := time.Now().Add(readerTimeout); ; time.Sleep(50 * time.Millisecond) {
		f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, mode)
		if !errors.Is(err, unix.ENXIO) {
			return f, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("no program reads the pipe %s", path)
		}
	}
}

// IsOut reports whether info describes standard output.
func (env *Env) IsOut(info fs.FileInfo) bool {
	f, ok := env.Out.(*os.File)
	if !ok {
		return false
	}
	out, err := f.Stat()
	return err == nil && os.SameFile(info, out)
}
