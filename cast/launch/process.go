package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// killDelay is the time between SIGTERM and SIGKILL of a remote shell.
	killDelay = 3 * time.Second
	// connectionLost is the exit status of ssh for its own errors.
	connectionLost = 255
	// maxUnsent bounds the queue of messages to a host, in bytes.
	maxUnsent = 16 << 20
)

var errBehind = errors.New("the host does not read its messages")

// Process is the program on a host, connected by the remote shell. Its methods may be called by several goroutines, Next by one
// at a time.
type Process struct {
	// Offers lists the URLs at which neighbors get what the program offers, see [Server.Offer].
	Offers []string

	host, shell string
	dir         string // of the program, from its hello
	command     Command
	remote      *remote // runs commands on other hosts
	out         *io.PipeReader
	records     *recordReader
	stderr      tail
	stdin       queue           // messages
	alive       context.Context // done when the shell has exited, and status, cut and stderr are final
	status      int
	cut         bool // it has ended with connectionLost, before Kill

	mu     sync.Mutex
	killed bool
	banner []byte // text on standard output, if no record was received
	why    error  // reason of killFor
	closed bool   // no more messages
}

// start runs a command line on a host.
func start(shell Runner, host, line string) (*Process, error) {
	p := &Process{host: host, shell: shell.Name()}
	p.stdin.init()
	out, stdout := io.Pipe()
	var err error
	if p.command, err = shell.Run(host, line, stdout, &p.stderr); err != nil {
		return nil, err
	}
	p.out, p.records = out, newRecordReader(out)
	p.remote = &remote{process: p}
	alive, exited := context.WithCancel(context.Background())
	p.alive = alive
	go func() {
		p.status = p.command.Wait()
		p.mu.Lock()
		p.cut = p.status == connectionLost && !p.killed
		p.mu.Unlock()
		p.stderr.endLine()
		_ = stdout.Close()
		p.stdin.add(nil, true)
		exited()
	}()
	go func() {
		p.stdin.copy(p.command, func(int) {})
		_ = p.command.Close()
	}()
	return p, nil
}

// Send queues v as a line of JSON for the program. It does not block. A host that does not read is killed when the queue is
// full. After a timeout of the host Send returns that error.
func (p *Process) Send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return cmp.Or(p.why, os.ErrClosed)
	}
	if p.stdin.add(append(line, '\n'), false) > maxUnsent {
		go p.killFor(errBehind)
		return errBehind
	}
	return nil
}

// CloseStdin closes the standard input of the program after the queued messages.
func (p *Process) CloseStdin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.stdin.add(nil, true)
}

// Next returns the next record of the program. It returns io.EOF at the end: then the shell has exited, or is killed.
func (p *Process) Next() (json.RawMessage, error) {
	record, err := p.records.next()
	for err == nil && p.remote.take(record) {
		record, err = p.records.next()
	}
	if err == nil {
		return record, nil
	}
	p.remote.lose()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.records.started {
		p.banner = p.records.banner
	}
	return nil, io.EOF
}

// Kill sends SIGTERM, and SIGKILL after three seconds, to the shell and its local child processes. It does not wait. Later
// records are lost.
func (p *Process) Kill() { p.killFor(nil) }

// killFor is Kill with a reason for Wait.
func (p *Process) killFor(why error) {
	p.mu.Lock()
	first := !p.killed
	p.killed = true
	if p.why == nil {
		p.why = why
	}
	p.closed = true
	p.stdin.add(nil, true)
	p.mu.Unlock()
	if !first {
		return
	}
	_ = p.command.Close()
	_ = p.out.Close() // else the output is never read
	p.signal(syscall.SIGTERM)
	kill := time.AfterFunc(killDelay, func() { p.signal(syscall.SIGKILL) })
	context.AfterFunc(p.alive, func() { kill.Stop() })
}

func (p *Process) signal(s syscall.Signal) {
	if p.alive.Err() == nil { // else the id may be reused
		p.command.Signal(s)
	}
}

// Lost reports whether the relay of the host or the connection of the remote shell was lost. Then the program may still run. It is
// called after Wait.
func (p *Process) Lost() bool {
	c, ok := p.command.(*remoteCommand)
	return ok && c.lost || p.cut && p.dir != ""
}

// Relays returns the number of hosts that relay the messages of the host.
func (p *Process) Relays() (n int) {
	for c, ok := p.command.(*remoteCommand); ok; c, ok = c.relay.process.command.(*remoteCommand) {
		n++
	}
	return n
}

// WaitRelayed waits until all processes that run through this one have exited.
func (p *Process) WaitRelayed(ctx context.Context) {
	p.remote.wait(ctx)
}

// Wait waits until the shell has exited. It returns its exit status, 128 plus the number of a signal, and the reason in one
// line: the last line on standard error, or on standard output if no record was received.
func (p *Process) Wait() (status int, lastLine string) {
	<-p.alive.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return p.status, p.why.Error()
	}
	return p.status, p.stderr.cause(p.shell, p.host, p.status, p.banner)
}
