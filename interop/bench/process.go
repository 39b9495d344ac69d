package bench

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// process is a program that prints a line once it is ready.
type process struct {
	*netns.Program
	line string
}

// readyTimeout bounds the time until a program is ready.
const readyTimeout = time.Minute

// startProcess runs a command with its errors in a log, and waits for its first line.
func startProcess(node *netns.Node, cmd *exec.Cmd, log string) (*process, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := node.StartProgram(cmd, log)
	if err != nil {
		return nil, err
	}
	proc := &process{Program: p}
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
		err := fmt.Errorf("%s did not start on %s: %s", filepath.Base(cmd.Path), node.Name(), p.LastLine())
		return nil, errors.Join(err, p.Kill())
	}
	return proc, nil
}
