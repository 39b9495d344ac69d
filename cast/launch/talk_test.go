package launch

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// scripted is a [Runner] whose hosts run a function.
type scripted func(host string, in *io.PipeReader, out io.Writer) (status int)

func (scripted) Name() string { return "rsh" }

func (s scripted) Run(host, _ string, stdout, _ io.Writer) (Command, error) {
	r, w := io.Pipe()
	c := &scriptedCommand{PipeWriter: w, in: r, status: make(chan int, 1)}
	go func() {
		c.status <- s(host, r, stdout)
		_ = r.Close()
	}()
	return c, nil
}

type scriptedCommand struct {
	*io.PipeWriter
	in     *io.PipeReader
	status chan int
}

func (c *scriptedCommand) Wait() int             { return <-c.status }
func (c *scriptedCommand) Signal(syscall.Signal) { _ = c.in.Close() }

// oneProgram returns the program for a platform, with a short archive.
func oneProgram() *Programs {
	p := &program{platform: "linux/amd64", stripped: strings.Repeat("0", 64), archive: func() (*archive, error) {
		return &archive{data: []byte("program"), sum: "00"}, nil
	}}
	return &Programs{all: []*program{p}}
}

// TestExitWhileWaiting checks that a host that prints and exits fails immediately, while another host gets the program.
func TestExitWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const need = "\036{\"need\":\"Linux x86_64\",\"by\":\"curl\"}\n"
		c := New(Config{Programs: oneProgram(), Shell: scripted(func(host string, in *io.PipeReader, out io.Writer) int {
			_, _ = bufio.NewReader(in).ReadString('\n')
			fmt.Fprint(out, need)
			if host == "first" {
				_, _ = io.Copy(io.Discard, in)
				return 1
			}
			time.Sleep(time.Second)
			fmt.Fprint(out, "The system is going down\n", "\036{}\n", "now\n")
			return 1
		})})
		go func() { _, _ = c.Start(t.Context(), "first", "A", noNote) }()
		synctest.Wait()
		began := time.Now()
		if _, err := c.Start(t.Context(), "second", "A", noNote); err == nil {
			t.Error("it started")
		}
		// The first host of a cluster logs in a second before its other hosts.
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("noticed after %v", took)
		}
	})
}
