package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Program is a process with a log, which runs until it is killed.
type Program struct {
	*Process
	log   string
	ended chan struct{} // closed when it has ended

	// mu guards what follows.
	mu     sync.Mutex
	killed bool
	used   Usage // when it was killed
}

// StartProgram starts a command as [Node.Start] does, with its errors in a log, and its output too
// unless the command has a writer for that. The log is a file and not a pipe, so that the program never
// waits for a reader.
func (n *Node) StartProgram(cmd *exec.Cmd, log string) (*Program, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd.Stderr = out
	if cmd.Stdout == nil {
		cmd.Stdout = out
	}
	process, err := n.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &Program{Process: process, log: log, ended: make(chan struct{})}
	go func() {
		_ = p.Wait() // the log has more than the status
		close(p.ended)
	}()
	return p, nil
}

// Ended is closed when the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Kill sends SIGKILL and waits. It may be called again.
func (p *Program) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.killed {
		p.killed = true
		p.used, _ = p.Process.Usage() // nothing if it had ended
	}
	return p.End()
}

// Killed reports whether Kill was called.
func (p *Program) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// Failed returns an error if the program has ended without Kill.
func (p *Program) Failed() error {
	select {
	case <-p.ended:
		if !p.Killed() {
			return fmt.Errorf("ended by itself: %s", p.LastLine())
		}
	default:
	}
	return nil
}

// Usage returns the resources that the program has used, also after Kill; zero if it ended otherwise.
func (p *Program) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return p.used
	}
	used, _ := p.Process.Usage()
	return used
}

// LastLine is the last line of the log, for errors.
func (p *Program) LastLine() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// Concurrently calls f with 0 to n-1, four calls at a time, and returns all errors.
func Concurrently(n int, f func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = f(i)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
