package sshd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// newSite makes a site on a grid of two clusters.
func newSite(t *testing.T) (*Site, *netns.Grid) {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	if err := Missing(); err != nil {
		t.Skip(err)
	}
	grid, err := netns.New(netns.Config{Clusters: netns.Clusters(2, 1), Links: netns.Uniform(100*netns.MBps, "A", "B")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), grid.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, grid
}

// start starts a host.
func start(t *testing.T, s *Site, c Config) *Host {
	t.Helper()
	h, err := s.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// login runs a command line on a host, from a node, and returns what it prints.
func login(t *testing.T, from *netns.Node, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := from.Run(cmd)
	return strings.TrimSpace(out.String()), err
}

// TestLogin logs in by ssh and past the network, from host to host too. Hosts have files and
// processes of their own.
func TestLogin(t *testing.T) {
	s, grid := newSite(t)
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "own-program"), []byte("#!/bin/sh\necho runs\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := start(t, s, Config{Node: grid.Node("A", 1), Programs: programs, Hide: "/usr/share/perl5"})
	b := start(t, s, Config{Node: grid.Node("B", 0), Name: "other", LoginShell: "/bin/dash"})
	source := grid.Node("A", 0)
	const command = `touch /tmp/mark own; ls /tmp /var/tmp /dev/shm; echo "$HOME $SHELL $0"; ps -e -o args= | grep -c '[s]shd -D'`
	for name, shell := range map[string][]string{"ssh": {"ssh", "-F", s.ClientConfig()}, "enter": {s.Enter()}} {
		for _, h := range []*Host{a, b} {
			out, err := login(t, source, append(shell, h.Name, command)...)
			if err != nil {
				t.Errorf("%s %s: %v: %s", name, h.Name, err, out)
			}
			if !strings.Contains(out, home()+" ") || !strings.HasSuffix(out, "\n1") {
				t.Errorf("%s %s: %s", name, h.Name, out)
			}
			if h == b && !strings.Contains(out, " /bin/dash") {
				t.Errorf("%s %s: not its login shell: %s", name, h.Name, out)
			}
			if err := os.Remove(filepath.Join(h.Home(), "own")); err != nil {
				t.Error(err)
			}
		}
		if out, err := login(t, source, append(shell, "A1", "own-program; ls", "/usr/share/perl5")...); err != nil || out != "runs" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if _, err := login(t, source, append(shell, "A1", "exit 3")...); err == nil || !strings.Contains(err.Error(), "status 3") {
			t.Errorf("%s: exit 3 became %v", name, err)
		}
	}
	out, err := login(t, source, "ssh", "-F", s.ClientConfig(), "A1", "ssh -F "+ClientConfigOnHosts+" other echo hop")
	if err != nil || out != "hop" {
		t.Errorf("from host to host: %q, %v", out, err)
	}
}

// TestProcesses finds what a login has started, and ends it with the host.
func TestProcesses(t *testing.T) {
	s, grid := newSite(t)
	h := start(t, s, Config{Node: grid.Node("A", 1)})
	start(t, s, Config{Node: grid.Node("B", 0)})
	cmd := exec.Command("ssh", "-F", s.ClientConfig(), h.Name, "setsid sleep 1234 & echo ready; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := grid.Node("A", 0).Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil || line != "ready" {
		t.Fatalf("%q, %v", line, err)
	}
	asleep := 0
	for until := time.Now().Add(time.Minute); asleep == 0; time.Sleep(10 * time.Millisecond) {
		all, err := s.Processes()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all[h] {
			if strings.HasPrefix(p.Command, "sleep 1234") || strings.HasPrefix(p.Command, "setsid sleep 1234") {
				asleep = p.Pid
			}
		}
		if len(all) != 1 || asleep == 0 && time.Now().After(until) {
			t.Fatalf("processes are %v, without the command", all)
		}
	}
	used, err := s.Usage()
	if err != nil || used.Peak < 1<<20 {
		t.Errorf("usage %+v, %v", used, err)
	}
	if err := h.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil {
		t.Error("the login outlives the host")
	}
	for until := time.Now().Add(time.Minute); syscall.Kill(asleep, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the command outlives the host")
		}
	}
}

// TestWrongKey is rejected by the client.
func TestWrongKey(t *testing.T) {
	s, grid := newSite(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := NewKey(key); err != nil {
		t.Fatal(err)
	}
	start(t, s, Config{Node: grid.Node("A", 1), HostKey: key})
	out, err := login(t, grid.Node("A", 0), "ssh", "-F", s.ClientConfig(), "A1", "true")
	if err == nil || !strings.Contains(out, "ost key") {
		t.Errorf("%v: %s", err, out)
	}
}
