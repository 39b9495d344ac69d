package launch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// attachLine is the command line that connects a login to the agent of the directory that is sent to it: by two FIFOs there, which the
// agent finds. It follows the rules of launch.sh.
const attachLine = `exec sh -c 'read -r d; p="$d/$$";` +
	` mkfifo "$p.in" "$p.out" 2>/dev/null || { echo "mob: the agent has exited" >&2; exit 1; };` +
	` { cat <&3 >"$p.in" 2>/dev/null & } 3<&0; exec cat "$p.out"'`

// attachTimeout bounds the time until the caster has reached an agent again.
const attachTimeout = 30 * time.Second

// Attach logs in to a host that was [Process.Lost], and connects to its agent. p is its process until then.
func (c *Launcher) Attach(ctx context.Context, p *Process, cluster string) (*Process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attachTimeout, errors.New("lost the connection, and the host is not reached"))
	defer cancel()
	l := &login{Launcher: c, host: p.host, cluster: cluster, note: func(string) {}, line: attachLine, word: p.dir}
	return l.run(ctx)
}

// Attached returns the standard streams of a new login, or nil if there is none. The agent has said hello there.
func (s *Server) Attached() (in io.Reader, out io.WriteCloser) {
	if !s.attachable {
		return nil, nil
	}
	for _, path := range s.fifos("out") {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil { // the login has not opened it
			continue
		}
		_ = os.Remove(path)
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(copyFIFO(w, strings.TrimSuffix(path, "out")+"in")) }()
		_ = s.hello(f) // the next report returns the error, too
		return r, f
	}
	return nil, nil
}

// fifos returns the paths of FIFOs of logins.
func (s *Server) fifos(suffix string) (paths []string) {
	names, _ := fs.Glob(os.DirFS(s.Dir), "*."+suffix)
	for _, name := range names {
		paths = append(paths, filepath.Join(s.Dir, name))
	}
	return paths
}

// hold opens all FIFOs of logins, so that a login that is opening them ends when they are closed.
func (s *Server) hold() (all []*os.File) {
	for _, path := range append(s.fifos("out"), s.fifos("in")...) {
		if f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// copyFIFO copies a FIFO to w, and removes it when it is open.
func copyFIFO(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = os.Remove(path)
	_, err = io.Copy(w, f)
	return err
}
