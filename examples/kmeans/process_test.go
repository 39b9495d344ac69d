//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
)

// process is the environment variable with a worker that runs in its own process.
const process = "KMEANS_TEST_WORKER"

// testParts is the number of parts of the points for workers in processes.
const testParts = 4

// processWorker is a worker of a job. It has the points of its part.
type processWorker struct {
	Tracker, Name, Out     string
	Cluster                string
	Part, Size, Dimensions int
	Centroids              int // testCentroids if 0
	StopAt                 int // iteration before which it stops itself, if not 0
	WaitAt                 int // iteration before which it waits for the end of its input, if not 0
	Peers                  int // connections that it has before it reports its start
}

func TestMain(m *testing.M) {
	text := os.Getenv(process)
	if text == "" {
		os.Exit(m.Run())
	}
	var p processWorker
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (p *processWorker) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	node, stop, err := startNode(p.Cluster, "/ip4/127.0.0.1/tcp/0", p.Tracker)
	if err != nil {
		return err
	}
	defer stop()
	points := randomPoints(testPoints, p.Dimensions)
	n := testPoints / testParts * p.Dimensions
	w := &worker{
		state: state{d: p.Dimensions, centroids: slices.Clone(points[:p.Dimensions*cmp.Or(p.Centroids, testCentroids)])},
		node:  node, name: p.Name, size: p.Size, rejoin: time.Minute, part: p.Part, parts: testParts, points: points[p.Part*n : (p.Part+1)*n], sum: collective.SumFloat64,
		write: func(centroids []float64) error { return os.WriteFile(p.Out, encode(centroids), 0o644) },
	}
	w.before = func() {
		if p.StopAt > 0 && w.iteration == p.StopAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			p.StopAt = 0
		}
		if p.WaitAt > 0 && w.iteration == p.WaitAt {
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
	}
	go func() {
		for len(node.Host().Network().Peers()) < p.Peers {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("started")
	}()
	return w.run(ctx, testIterations)
}

// processes are workers in their own processes, with one tracker.
type processes struct {
	t       *testing.T
	tracker string
	out     string
	all     []*exec.Cmd
	inputs  []io.Closer
	errors  []*strings.Builder
}

func newProcesses(t *testing.T) *processes {
	t.Helper()
	p := &processes{t: t, tracker: startTracker(t), out: filepath.Join(t.TempDir(), "centroids")}
	t.Cleanup(func() {
		for _, cmd := range p.all {
			_ = cmd.Process.Kill()
		}
	})
	return p
}

// start starts a worker, and returns once it has reported its start.
func (p *processes) start(w processWorker) *exec.Cmd {
	p.t.Helper()
	w.Tracker, w.Out, w.Name = p.tracker, p.out, "processes"
	w.Cluster = string(rune('A' + w.Part/2))
	w.Dimensions = max(w.Dimensions, testDimensions)
	b, err := json.Marshal(w)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), process+"="+string(b))
	failed := new(strings.Builder)
	cmd.Stderr = failed
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = fmt.Fscanln(out, new(string))
	}
	if err != nil {
		p.t.Fatal(err, failed)
	}
	p.all, p.inputs, p.errors = append(p.all, cmd), append(p.inputs, in), append(p.errors, failed)
	return cmd
}

// wait returns what each process that was not killed reports, empty after success.
func (p *processes) wait() (texts []string) {
	p.t.Helper()
	for i, cmd := range p.all {
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) && !exit.Exited() {
			continue // killed
		}
		text := ""
		if err != nil {
			text = fmt.Sprint(err, ": ", p.errors[i])
		}
		if strings.Contains(text, context.DeadlineExceeded.Error()) {
			p.t.Errorf("process %d hung: %s", i, text)
		}
		texts = append(texts, text)
	}
	return texts
}

// checkCentroids checks that the workers had the result of one process.
func (p *processes) checkCentroids() {
	p.t.Helper()
	for i, text := range p.wait() {
		if text != "" {
			p.t.Errorf("process %d: %s", i, text)
		}
	}
	points := randomPoints(testPoints, testDimensions)
	want := alone(state{d: testDimensions, centroids: points[:testDimensions*testCentroids]}, points, testIterations)
	if got, err := os.ReadFile(p.out); err != nil || !slices.Equal(got, encode(want)) {
		p.t.Error("other centroids than one process", err)
	}
}

// checkAllFail checks that all workers end with an error.
func (p *processes) checkAllFail(want string) {
	p.t.Helper()
	named := false
	for i, text := range p.wait() {
		named = named || strings.Contains(text, want)
		if text == "" {
			p.t.Errorf("process %d: no error", i)
		}
	}
	if !named {
		p.t.Errorf("no process reports %q: %q", want, p.errors)
	}
}

// A pause of a worker is not its end: the remaining ones wait.
func TestStoppedWorkerContinues(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	victim := p.start(processWorker{Part: 0, Size: 4, StopAt: testIterations / 2})
	for part := 1; part < 4; part++ {
		p.start(processWorker{Part: part, Size: 4})
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(victim.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(err, status)
	}
	time.Sleep(5 * time.Second) // the length of the pause
	if err := victim.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.checkCentroids()
}

// A worker is killed while the remaining workers wait for the last one. Two start instead.
func TestWorkerKilledWhileJoining(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	for part := range 2 {
		p.start(processWorker{Part: part, Size: 4})
	}
	victim := p.start(processWorker{Part: 2, Size: 4, Peers: 3}) // the tracker and the two
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for part := 2; part < 4; part++ {
		p.start(processWorker{Part: part, Size: 4})
	}
	p.checkCentroids()
}

// The workers of two groups with one name start together: only one group forms, and it waits until the remaining workers have failed.
func TestTwoGroupsOfOneName(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	for i := range 4 {
		p.start(processWorker{Part: i, Size: 2, WaitAt: testIterations / 2})
	}
	ended := make(chan int)
	for i, cmd := range p.all {
		go func() {
			_ = cmd.Wait()
			ended <- i
		}()
	}
	for n := range p.all {
		i := <-ended
		if n == 1 {
			for _, in := range p.inputs {
				_ = in.Close()
			}
		}
		failed := p.errors[i].String()
		if n < 2 && !strings.Contains(failed, "the group is full") || n >= 2 && failed != "" {
			t.Errorf("process %d: %s", i, failed)
		}
	}
}

// A worker has other numbers of a point, or other centroids.
func TestWorkerWithOtherNumbers(t *testing.T) {
	t.Parallel()
	for _, other := range []processWorker{{Dimensions: testDimensions + 1}, {Centroids: testCentroids + 1}} {
		p := newProcesses(t)
		p.start(processWorker{Part: 0, Size: 3})
		p.start(processWorker{Part: 1, Size: 3})
		other.Part, other.Size = 2, 3
		p.start(other)
		p.checkAllFail("other numbers of centroids")
	}
}

// Two workers have the same part of the points.
func TestWorkersWithOnePart(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	for _, part := range []int{0, 2, 2} {
		p.start(processWorker{Part: part, Size: 3})
	}
	p.checkAllFail("several workers have part 2")
}
