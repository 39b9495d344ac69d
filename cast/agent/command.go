package agent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/cast/launch"
)

const (
	// maxLine bounds a line of a command, in bytes. A longer line is reported in parts.
	maxLine = 4 << 10
	// outputWait bounds the wait for processes that keep the output open after the command has exited.
	outputWait = 2 * time.Second
)

// exitError is the failure of a command.
type exitError struct {
	status int            // see [launch.ExitStatus]
	signal syscall.Signal // or 0
	last   string         // line of its standard error
}

// Error implements error.
func (e *exitError) Error() string {
	text := fmt.Sprintf("the command ended with status %d", e.status)
	if e.signal != 0 {
		text = "the command was killed: " + e.signal.String()
	}
	if e.last != "" {
		text += ": " + e.last
	}
	return text
}

// command runs a command line with sh in its own process group. Write writes to its standard input.
type command struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	last   string        // the last nonempty line of standard error
	ended  chan struct{} // closed when it has exited
	result chan error
}

// startCommand starts a command line. output is called with each line that it prints.
func startCommand(line string, env []string, output func(string)) (*command, error) {
	c := &command{cmd: exec.Command("sh", "-c", line), ended: make(chan struct{}), result: make(chan error, 1)}
	stdout := &lineWriter{line: output}
	stderr := &lineWriter{line: func(line string) { c.last = cmp.Or(strings.TrimSpace(line), c.last) }}
	c.cmd.Stdout, c.cmd.Stderr = stdout, stderr
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = newGroup()
	c.cmd.WaitDelay = outputWait
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	widen(c.cmd.Stdin)
	started := make(chan error)
	go func() {
		// Linux kills the command when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		resetTimerSlack()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			err = c.cmd.Wait()
			stdout.flush()
			stderr.flush()
			c.result <- c.status(err)
			close(c.ended)
		}
	}()
	return c, <-started
}

// status returns the error of a command after Wait returned err.
func (c *command) status(err error) error {
	state := c.cmd.ProcessState
	if state == nil {
		return err
	}
	if state.Success() {
		return nil // even if another process keeps its output open
	}
	status, signal := launch.ExitStatus(state)
	return &exitError{status, signal, c.last}
}

// Write implements [consumer].
func (c *command) Write(b []byte) (int, error) {
	n, err := c.stdin.Write(b)
	if err != nil {
		err = errNotRead
	}
	return n, err
}

// over implements [consumer].
func (c *command) over() <-chan error { return c.result }

// finish implements [consumer].
func (c *command) finish(ctx context.Context) error {
	_ = c.stdin.Close()
	select {
	case err := <-c.result:
		return err
	case <-ctx.Done():
		c.kill()
		return context.Cause(ctx)
	}
}

// kill implements [consumer]. It kills the process group before standard input ends, which the command would treat as the end of
// the stream.
func (c *command) kill() {
	select {
	case <-c.ended:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.ended
	}
	_ = c.stdin.Close()
}

// lineWriter calls a function with each line that is written to it.
type lineWriter struct {
	line func(string)
	rest []byte
}

// Write implements [io.Writer].
func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for len(w.rest) > 0 {
		end, next := bytes.IndexByte(w.rest, '\n'), 1
		if end < 0 && len(w.rest) < maxLine {
			break
		}
		if end < 0 || end > maxLine {
			end, next = maxLine, 0
		}
		w.line(string(w.rest[:end]))
		w.rest = w.rest[end+next:]
	}
	return len(b), nil
}

// flush reports an unfinished last line.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.line(string(w.rest))
		w.rest = nil
	}
}
