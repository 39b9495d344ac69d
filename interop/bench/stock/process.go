package stock

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// process is a program on a node that runs until it is killed.
type process struct {
	p     *netns.Process
	log   string
	ended chan struct{} // closed when it has ended
}

// startProcess runs a command with its output in a log. The log is a file and no pipe, so
// that the program never waits for a reader.
func startProcess(node *netns.Node, cmd *exec.Cmd, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd.Stdout, cmd.Stderr = out, out
	p, err := node.Start(cmd)
	if err != nil {
		return nil, err
	}
	run := &process{p: p, log: log, ended: make(chan struct{})}
	go func() {
		_ = p.Wait() // the log says more than the status
		close(run.ended)
	}()
	return run, nil
}

// lastLine is the last line of the log, for errors.
func (p *process) lastLine() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "no output"
}

// usage returns the resources that the program has used; zero once it has ended.
func (p *process) usage() netns.Usage {
	u, err := p.p.Usage()
	if err != nil {
		return netns.Usage{}
	}
	return u
}

// kill sends SIGKILL and waits. A program that has ended already is not an error.
func (p *process) kill() error {
	err := p.p.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-p.ended
	return err
}
