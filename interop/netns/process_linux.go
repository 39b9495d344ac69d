package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a command that runs in a node, and what it started in turn, as long as that stays in its process group. The group
// ends with the command, with the grid, and (the command itself) with the program that made the grid, however that ends.
type Process struct {
	// Set by Start and constant afterwards.
	grid *Grid
	cmd  *exec.Cmd

	// once guards the one wait; err is its result.
	once sync.Once
	err  error

	// mu guards ended: from then on the process number may belong to someone else.
	mu    sync.Mutex
	ended bool
}

// ioDelay is how long after its end a command's output is waited for when someone else holds the other end.
const ioDelay = 5 * time.Second

// Start starts a command, made with exec.Command or exec.CommandContext, in the node. Of cmd it sets SysProcAttr's process group
// and death signal, and a WaitDelay of five seconds if there is none. Start and Wait of cmd itself must not be called (its
// StdoutPipe and the like may). The caller should call Wait; otherwise Close does.
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
	if err := n.ns.do(cmd.Start); err != nil {
		return nil, fmt.Errorf("netns: start in node %d of %s: %w", n.Index, n.Cluster, err)
	}
	p := &Process{grid: g, cmd: cmd}
	g.processes[p] = struct{}{}
	g.log.Debug("process started", "cluster", n.Cluster, "node", n.Index, "pid", p.Pid(), "args", cmd.Args)
	return p, nil
}

// Run starts a command in the node and waits for it. The error is that of Start, or of Wait.
func (n *Node) Run(cmd *exec.Cmd) error {
	p, err := n.Start(cmd)
	if err != nil {
		return err
	}
	return p.Wait()
}

// Pid is the process number, and that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal to the command alone. os.ErrProcessDone if it has ended and was waited for.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill kills the command and its group, and does not wait. os.ErrProcessDone if it has ended and was waited for.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return unix.Kill(-p.Pid(), unix.SIGKILL)
}

// Wait blocks until the command has ended, then kills what is left of its group and returns what exec.Cmd.Wait would. It may be
// called by several goroutines and again.
func (p *Process) Wait() error {
	p.once.Do(func() {
		if p.awaitEnd() == nil {
			_ = p.Kill() // not yet reaped, so the number is still its own; the rest of the group may well be empty
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

// awaitEnd blocks until the command has ended, without reaping it.
func (p *Process) awaitEnd() error {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// killAll kills and reaps what runs. The grid starts nothing any more.
func (g *Grid) killAll() error {
	g.mu.Lock()
	var running []*Process
	for p := range g.processes {
		running = append(running, p)
	}
	g.mu.Unlock()

	var errs []error
	for _, p := range running {
		if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, fmt.Errorf("netns: kill process %d: %w", p.Pid(), err))
		}
	}
	for _, p := range running {
		_ = p.Wait() // how a killed process ended is nobody's concern
	}
	return errors.Join(errs...)
}
