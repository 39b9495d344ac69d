package launch

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// killDelay is how long a remote shell may take to end before it is killed.
	killDelay = 3 * time.Second
	// drainTime is how long the output of a shell that has ended is still read, if something that it left
	// behind keeps it open.
	drainTime = 2 * time.Second
	// maxUnsent bounds what waits to be sent to a host, in bytes.
	maxUnsent = 16 << 20
)

// errBehind says that a host does not read what it is sent.
var errBehind = errors.New("the host does not read its messages")

// Process is the program on a host, as the remote shell shows it. Its methods may be called by several goroutines,
// Next by one at a time.
type Process struct {
	host    string
	cmd     *exec.Cmd
	in, out *os.File
	records *recordReader
	stderr  tail
	drained bool          // by Next, after a deadline
	wake    chan struct{} // tells the writer that there is something to do
	ended   chan struct{} // closed when the shell has ended, and status and stderr are final
	status  int

	mu     sync.Mutex
	killed bool
	said   []byte   // on standard output, if no record arrived
	why    error    // why it was killed, if somebody said it
	unsent [][]byte // messages
	size   int      // of unsent, in bytes
	closed bool     // no more messages
}

// start runs a command in a session of its own: a key at the terminal must not end it, and it cannot ask there.
func start(host string, command []string) (*Process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p := &Process{host: host, cmd: cmd, ended: make(chan struct{}), wake: make(chan struct{}, 1)}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer childOut.Close()
	errs, childErr, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	defer childErr.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, childErr
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close(), errs.Close())
	}
	p.in, p.out, p.records = in, out, newRecordReader(out)
	go p.wait(errs)
	go p.write()
	return p, nil
}

// wait waits for the shell to end.
func (p *Process) wait(errs *os.File) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.stderr.readFrom(errs)
	}()
	_ = p.cmd.Wait() // the status says it
	_ = p.out.SetReadDeadline(time.Now().Add(drainTime))
	_ = errs.SetReadDeadline(time.Now().Add(drainTime))
	<-read
	_ = errs.Close()
	_ = p.in.Close()
	p.status = p.cmd.ProcessState.ExitCode()
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		p.status = 128 + int(ws.Signal())
	}
	close(p.ended)
}

// write sends the messages, until there will be no more.
func (p *Process) write() {
	for {
		p.mu.Lock()
		messages, closed := p.unsent, p.closed
		p.unsent, p.size = nil, 0
		p.mu.Unlock()
		for _, message := range messages {
			// A shell that does not read is about to end, or is killed by somebody.
			if _, err := p.in.Write(message); err != nil {
				break
			}
		}
		if closed && len(messages) == 0 {
			_ = p.in.Close()
			return
		}
		select {
		case <-p.wake:
		case <-p.ended:
			return
		}
	}
}

// Send sends v to the program as a line of JSON, soon: it does not wait for a host that is slow to read. One that
// does not read at all is killed at last.
func (p *Process) Send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	if p.size += len(line) + 1; p.size > maxUnsent {
		go p.killFor(errBehind)
		return errBehind
	}
	p.unsent = append(p.unsent, append(line, '\n'))
	p.notify()
	return nil
}

// CloseStdin closes the standard input of the program, after what was sent.
func (p *Process) CloseStdin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.notify()
}

func (p *Process) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Next returns the next record of the program, and io.EOF when there are no more: then the shell
// has ended, or soon will.
func (p *Process) Next() (json.RawMessage, error) {
	for {
		record, err := p.records.next()
		if errors.Is(err, os.ErrDeadlineExceeded) && !p.drained {
			// What the shell wrote before it ended may still be there.
			p.drained = true
			_ = p.out.SetReadDeadline(time.Now().Add(drainTime))
			continue
		}
		if err != nil {
			_ = p.out.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.records.started {
				p.said = p.records.banner
			}
			return nil, io.EOF
		}
		return record, nil
	}
}

// Kill ends the shell, with SIGTERM and later with SIGKILL, and all that it has started here. It
// does not wait for that.
func (p *Process) Kill() { p.killFor(nil) }

// killFor is Kill, with what Wait says of it.
func (p *Process) killFor(why error) {
	p.mu.Lock()
	first := !p.killed
	p.killed = true
	if p.why == nil {
		p.why = why
	}
	p.closed, p.unsent = true, nil
	p.notify()
	p.mu.Unlock()
	if !first {
		return
	}
	_ = p.in.Close()
	p.signal(syscall.SIGTERM)
	go func() {
		timer := time.NewTimer(killDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
			p.signal(syscall.SIGKILL)
		case <-p.ended:
		}
	}()
}

// signal sends a signal to the shell and what it has started.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.ended: // the id may be another's
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// Wait waits until the shell has ended. It returns its exit status, 128 plus the number of the signal that killed
// it, and in one line the last output on standard error. If there is none, and no record arrived, it is the last line on
// standard output.
func (p *Process) Wait() (status int, lastLine string) {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return p.status, p.why.Error()
	}
	return p.status, p.stderr.cause(filepath.Base(p.cmd.Args[0]), p.host, p.status, p.said)
}
