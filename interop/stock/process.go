package stock

import (
	"errors"
	"os"
	"os/exec"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// process is a program on a node that runs until it is killed.
type process struct {
	p   *netns.Process
	log string
	// ended is closed when it has ended, whyever.
	ended chan struct{}
}

// startProcess runs a command with its output in a log. That one is no pipe: a
// client must not wait for whoever reads it.
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

// lastWords is the last that it has said.
func (p *process) lastWords() string { return lastWords(p.log) }

// used is what it has used so far; zero when it has ended.
func (p *process) used() bench.Usage {
	var u bench.Usage
	if cpu, err := bench.ProcessCPU(p.p.Pid()); err == nil {
		u.CPU = cpu
	}
	if _, peak, err := bench.ProcessMemory(p.p.Pid()); err == nil {
		u.Peak = peak
	}
	return u
}

// kill is kill -9, and waits. It is no error when it has ended before.
func (p *process) kill() error {
	err := p.p.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-p.ended
	return err
}
