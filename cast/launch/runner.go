package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Runner runs command lines for sh on hosts.
type Runner interface {
	// Run starts a command line on a host. Its output is copied to stdout and stderr until Wait returns.
	Run(host, line string, stdout, stderr io.Writer) (Command, error)
	// Name is the name of the program that runs the command lines. It precedes the messages of the program.
	Name() string
}

// A Command is a running command line. Write writes to its standard input. Its methods may be called by several goroutines.
type Command interface {
	io.WriteCloser
	// Wait blocks until the command has exited, and returns its exit status, or 128 plus the number of a signal. It is called
	// once.
	Wait() int
	// Signal sends a signal to the command, which has not exited.
	Signal(syscall.Signal)
}

// Shell is the [Runner] for a program and its arguments, such as ssh. The program is called with the command line as its last
// argument, and the host before it. If an argument contains %h, the host replaces it there instead, unless it is for ssh, as in the
// options ControlPath=%r@%h:%p and ProxyCommand=ssh -W %h:%p gw.
type Shell []string

// drainTime bounds the wait for the end of the output of an exited shell, which another process may keep open.
const drainTime = 2 * time.Second

// Run implements [Runner]. The command has its own session: a key at the terminal must not end it, and it cannot prompt there.
func (s Shell) Run(host, line string, stdout, stderr io.Writer) (Command, error) {
	args := s.Args(host, line)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, drainTime
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s[0], err)
	}
	return &local{in, cmd}, nil
}

// Args returns the program and its arguments for a command line on a host.
func (s Shell) Args(host, line string) []string {
	args := slices.Clone(s)
	for i, arg := range args {
		if !containsAny(arg, "%p", "%r") {
			args[i] = strings.ReplaceAll(arg, "%h", host)
		}
	}
	if slices.Equal(args, s) {
		args = append(args, host)
	}
	return append(args, line)
}

// Name implements [Runner].
func (s Shell) Name() string { return filepath.Base(s[0]) }

// local is a remote shell on this machine.
type local struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Wait implements [Command].
func (l *local) Wait() int {
	_ = l.cmd.Wait() // the status is read below
	status, _ := ExitStatus(l.cmd.ProcessState)
	return status
}

// ExitStatus returns the exit status of a command as a shell reports it, and the signal that killed it, or 0: then the status is
// 128 plus its number.
func ExitStatus(state *os.ProcessState) (int, syscall.Signal) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal()
	}
	return state.ExitCode(), 0
}

// Signal implements [Command]. It includes the local child processes of the shell.
func (l *local) Signal(s syscall.Signal) { _ = syscall.Kill(-l.cmd.Process.Pid, s) }
