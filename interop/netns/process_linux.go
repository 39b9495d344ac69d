package netns

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a command that runs in a node, with its process group. The group ends with the command
// and with the grid. The command also ends with the program that made the grid, however that ends.
type Process struct {
	// Set by Start and constant afterwards.
	grid *Grid
	cmd  *exec.Cmd

	// once guards the wait; err is its result.
	once sync.Once
	err  error

	// mu guards ended, since the process ID may be reused afterwards.
	mu    sync.Mutex
	ended bool
}

// ioDelay bounds the wait for a command's output after its end, when another process still holds
// the pipe.
const ioDelay = 5 * time.Second

// Start starts a command, made by exec.Command or exec.CommandContext, in the node. It sets the
// process group and death signal of its SysProcAttr, and a WaitDelay of five seconds if there is
// none. Methods of cmd that start or wait must not be called; StdoutPipe and the like may be. The
// caller should call Wait; otherwise Close does.
func (n *Node) Start(cmd *exec.Cmd) (*Process, error) {
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Setpgid = !attr.Setsid // a new session is a new group already
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = &attr
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = ioDelay
	}

	g := n.grid
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	if err := g.in(n.ns, cmd.Start); err != nil {
		return nil, fmt.Errorf("netns: start in %s: %w", n.Name(), err)
	}
	p := &Process{grid: g, cmd: cmd}
	g.processes[p] = struct{}{}
	return p, nil
}

// Run starts a command in the node and waits for it. Its errors are the errors of Start and Wait.
func (n *Node) Run(cmd *exec.Cmd) error {
	p, err := n.Start(cmd)
	if err != nil {
		return err
	}
	return p.Wait()
}

// Pid is the ID of the process and of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal to the command alone. It returns os.ErrProcessDone if the command has ended
// and was waited for.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill sends SIGKILL to the command and its group, without waiting. It returns os.ErrProcessDone if
// the command has ended and was waited for.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return unix.Kill(-p.Pid(), unix.SIGKILL)
}

// End kills the command and its group, and waits. It is not an error if the command had ended.
func (p *Process) End() error {
	err := p.Kill()
	_ = p.Wait() // "killed" is not an error
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Wait waits until the command has ended, kills the rest of its group, and returns what
// exec.Cmd.Wait returns. It may be called from several goroutines, and again.
func (p *Process) Wait() error {
	p.once.Do(func() {
		if p.awaitEnd() == nil {
			_ = p.Kill() // the ID is still its own until it is reaped; the rest of the group may be empty
		}
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.err = p.cmd.Wait()
		p.grid.mu.Lock()
		delete(p.grid.processes, p)
		p.grid.mu.Unlock()
	})
	return p.err
}

// awaitEnd waits until the command has ended, without reaping it.
func (p *Process) awaitEnd() error {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// killAll kills and reaps all processes, after the grid was closed to new ones.
func (g *Grid) killAll() error {
	g.mu.Lock()
	running := slices.Collect(maps.Keys(g.processes))
	g.mu.Unlock()

	var errs []error
	for _, p := range running {
		_ = p.Kill() // all of them before the first wait
	}
	for _, p := range running {
		errs = append(errs, p.End())
	}
	return errors.Join(errs...)
}
