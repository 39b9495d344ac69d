package bench

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// process is a program on a node that prints a line once it is ready, and runs until it is
// stopped.
type process struct {
	p    *netns.Process
	line string
	log  *os.File
	once sync.Once // guards the end
	err  error     // of the end
}

// readyTimeout bounds the time until a program is ready.
const readyTimeout = time.Minute

// startProcess runs a command with its errors in a log, and waits for its first line.
func startProcess(node *netns.Node, cmd *exec.Cmd, log string) (*process, error) {
	logFile, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = logFile
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, logFile.Close())
	}
	p, err := node.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, logFile.Close())
	}
	proc := &process{p: p, log: logFile}
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case proc.line = <-line:
	case <-time.After(readyTimeout):
	}
	if proc.line == "" {
		text, _ := os.ReadFile(log)
		err := fmt.Errorf("%s did not start on %s: %s", filepath.Base(cmd.Path), node.Name(), lastLine(string(text)))
		return nil, errors.Join(err, proc.kill())
	}
	return proc, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// kill sends SIGKILL and waits. It may be called again.
func (p *process) kill() error {
	p.once.Do(func() {
		p.err = errors.Join(p.p.End(), p.log.Close())
	})
	return p.err
}

// stop sends SIGTERM and waits. It fails if the program does not exit with status 0.
func (p *process) stop() error {
	if err := p.p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	p.once.Do(func() { p.err = errors.Join(p.p.Wait(), p.log.Close()) })
	return p.err
}
