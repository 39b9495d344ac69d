package netns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestProcessRunsInItsNode(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(1*MBps, "A", "B")})
	var out strings.Builder
	n := g.Node("B", 0)
	cmd := exec.Command("cat", "/proc/net/fib_trie")
	cmd.Stdout = &out
	if err := n.Run(cmd); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), n.IP.String()) {
		t.Errorf("the process does not have the node's address: %s", out.String())
	}
	var exit *exec.ExitError
	if err := n.Run(exec.Command("sh", "-c", "exit 3")); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit status lost: %v", err)
	}
	if _, err := n.Start(exec.Command("/nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("start of a missing command: %v", err)
	}
}

// A command that ends leaves no process of its group behind, nor does one that is killed.
func TestGroupEndsWithItsCommand(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(1)})
	for name, script := range map[string]string{
		"ends":      "sleep 1000 >/dev/null 2>&1 & echo $!",
		"is killed": "sleep 1000 >/dev/null 2>&1 & echo $!; wait",
	} {
		cmd := exec.Command("sh", "-c", script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Node("A", 0).Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		var child int
		if _, err := fmt.Fscanln(out, &child); err != nil {
			t.Fatal(err)
		}
		if name == "is killed" {
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		_ = p.Wait()
		awaitGone(t, child)
		if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("kill of an ended process: %v", err)
		}
	}
}

func TestCloseKillsProcesses(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(2)})
	var pids []int
	for _, n := range g.Nodes("A") {
		p, err := n.Start(roleCommand(t, "sleep"))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, p.Pid())
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if unix.Kill(pid, 0) == nil {
			t.Errorf("process %d runs after Close", pid)
		}
	}
}

// ownGrid is the role of a program that makes a grid with a process in it, prints their names, and
// waits to be killed.
func ownGrid() error {
	g, err := New(Config{Clusters: Clusters(2, 1), Links: Uniform(1*MBps, "A", "B")})
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=sleep")
	p, err := g.Node("B", 0).Start(cmd)
	if err != nil {
		return err
	}
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.Pid()))
	if err != nil {
		return err
	}
	fmt.Println(p.Pid(), namespace)
	select {}
}

func TestCrashLeavesNothing(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	before := interfaces(t)
	owner := roleCommand(t, "own")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	var namespace string
	if _, err := fmt.Fscanln(bufio.NewReader(out), &child, &namespace); err != nil {
		t.Fatal(err)
	}
	if !namespaceInUse(namespace) {
		t.Fatalf("no thread is in %s", namespace)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = owner.Wait()
	awaitGone(t, child)
	// The thread of the child may end before the threads of its parent.
	if !eventually(func() bool { return !namespaceInUse(namespace) }) {
		t.Errorf("a thread is still in %s", namespace)
	}
	if after := interfaces(t); after != before {
		t.Errorf("interfaces of the test changed from %s to %s", before, after)
	}
}

// awaitGone waits until a process that is not the test's child has ended, reaped or not.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	gone := func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(stat), ") Z ")
	}
	if !eventually(gone) {
		t.Errorf("process %d still runs", pid)
	}
}

// eventually reports whether a condition becomes true within a minute.
func eventually(so func() bool) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}

// namespaceInUse reports whether any thread of any process is in a network namespace.
func namespaceInUse(namespace string) bool {
	tasks, _ := os.ReadDir("/proc")
	for _, process := range tasks {
		threads, _ := os.ReadDir("/proc/" + process.Name() + "/task")
		for _, thread := range threads {
			link, _ := os.Readlink("/proc/" + process.Name() + "/task/" + thread.Name() + "/ns/net")
			if link == namespace {
				return true
			}
		}
	}
	return false
}
