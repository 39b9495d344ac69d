package feed_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/workers"
)

// process is a worker on this machine.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *json.Decoder
}

func startProcess(t *testing.T, cfg workerConfig) *process {
	t.Helper()
	cmd, err := workers.Command(worker, cfg)
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := workers.Pipes(cmd)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &process{t, cmd, in, json.NewDecoder(out)}
}

func (p *process) read() (e event) {
	p.t.Helper()
	if err := p.out.Decode(&e); err != nil {
		p.t.Fatal(err)
	}
	return e
}

// memory returns the resident bytes of the process.
func (p *process) memory() int {
	p.t.Helper()
	return p.number("statm", 1) * os.Getpagesize()
}

// cpu returns the processor time of the process.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	const tick = 10 * time.Millisecond
	return time.Duration(p.number("stat", 13)+p.number("stat", 14)) * tick
}

// number returns a field of a file about the process.
func (p *process) number(file string, field int) int {
	p.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file))
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(b))[field])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// TestIdle follows a hundred feeds, for whose memory and processor time an idle node has a budget.
func TestIdle(t *testing.T) {
	if !*figures {
		t.Skip("with -figures")
	}
	const (
		feeds   = 100
		start   = 10 * time.Second
		settle  = 150 * time.Second // a tracker has members of a new group announce three times as often for two minutes
		measure = time.Minute
	)
	dir := t.TempDir()
	publisher := startProcess(t, workerConfig{Node: workers.Node{Data: filepath.Join(dir, "p"), Cluster: "A", IP: "127.0.0.1"}, Feeds: feeds})
	var links strings.Builder
	var made event
	for range feeds {
		made = publisher.read()
		links.WriteString(made.Link + "\n")
	}
	follower := startProcess(t, workerConfig{Node: workers.Node{Data: filepath.Join(dir, "f"), Cluster: "B", IP: "127.0.0.2", Tracker: made.Addr}})
	time.Sleep(start)
	before, cpu := follower.memory(), follower.cpu()
	if _, err := io.WriteString(follower.in, links.String()); err != nil {
		t.Fatal(err)
	}
	for members := 0; members < feeds; time.Sleep(time.Second) {
		if _, err := io.WriteString(follower.in, "\n"); err != nil {
			t.Fatal(err)
		}
		members = follower.read().Members
	}
	joined := follower.cpu() - cpu
	time.Sleep(settle)
	cpu = follower.cpu()
	time.Sleep(measure)
	used, memory := follower.cpu()-cpu, follower.memory()-before
	t.Logf("%d feeds: %.1f MB more, %.2f %% of a core; %v to follow them", feeds, float64(memory)/1e6, 100*used.Seconds()/measure.Seconds(), joined)
	if memory > 50e6 {
		t.Errorf("%d bytes more, want 50 MB", memory)
	}
	if used > measure/100 {
		t.Errorf("%v of processor time in %v, want 1 %%", used, measure)
	}
}
