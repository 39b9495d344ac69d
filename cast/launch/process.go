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
	// killDelay is the time between SIGTERM and SIGKILL of a remote shell.
	killDelay = 3 * time.Second
	// drainTime bounds the time for which the output of an exited shell is read, if another process keeps it open.
	drainTime = 2 * time.Second
	// maxUnsent bounds the queue of messages to a host, in bytes.
	maxUnsent = 16 << 20
)

var errBehind = errors.New("the host does not read its messages")

// Process is the program on a host, connected by the remote shell. Its methods may be called by several goroutines, Next by one
// at a time.
type Process struct {
	host    string
	cmd     *exec.Cmd
	in, out *os.File
	records *recordReader
	stderr  tail
	drained bool          // by Next, after a deadline
	wake    chan struct{} // has a token when the writer has work
	ended   chan struct{} // closed when the shell has exited, and status and stderr are final
	status  int

	mu     sync.Mutex
	killed bool
	banner []byte   // text on standard output, if no record was received
	why    error    // reason of killFor
	unsent [][]byte // messages
	size   int      // of unsent, in bytes
	closed bool     // no more messages
}

// start runs a command in its own session: a key at the terminal must not end it, and it cannot prompt there.
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
	_ = p.cmd.Wait() // the status is read below
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

// write sends the queued messages until Kill or CloseStdin.
func (p *Process) write() {
	for {
		p.mu.Lock()
		messages, closed := p.unsent, p.closed
		p.unsent, p.size = nil, 0
		p.mu.Unlock()
		for _, message := range messages {
			if _, err := p.in.Write(message); err != nil { // the shell exits
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

// Send queues v as a line of JSON for the program. It does not block. A host that does not read is killed when the queue is
// full.
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

// CloseStdin closes the standard input of the program after the queued messages.
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

// Next returns the next record of the program. It returns io.EOF at the end: then the shell has exited, or is about to.
func (p *Process) Next() (json.RawMessage, error) {
	for {
		record, err := p.records.next()
		if errors.Is(err, os.ErrDeadlineExceeded) && !p.drained {
			p.drained = true // the pipe may contain more
			_ = p.out.SetReadDeadline(time.Now().Add(drainTime))
			continue
		}
		if err != nil {
			_ = p.out.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.records.started {
				p.banner = p.records.banner
			}
			return nil, io.EOF
		}
		return record, nil
	}
}

// Kill sends SIGTERM, and SIGKILL after three seconds, to the shell and its local child processes. It does not wait.
func (p *Process) Kill() { p.killFor(nil) }

// killFor is Kill with a reason for Wait.
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

// signal sends a signal to the process group of the shell.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.ended: // the id may be reused
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// Wait waits until the shell has exited. It returns its exit status, 128 plus the number of a signal, and the reason in one
// line: the last line on standard error, or on standard output if no record was received.
func (p *Process) Wait() (status int, lastLine string) {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return p.status, p.why.Error()
	}
	return p.status, p.stderr.cause(filepath.Base(p.cmd.Args[0]), p.host, p.status, p.banner)
}
