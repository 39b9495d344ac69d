package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// castingProcess is a caster in a separate process.
type castingProcess struct {
	*exec.Cmd
	stderr bytes.Buffer
	mu     sync.Mutex
	said   map[string]bool
}

// startCaster starts a cast in a separate process. Hosts write errors to a file.
func (g *grid) startCaster(c testCast) *castingProcess {
	g.t.Helper()
	for _, h := range c.Hosts {
		rc, _ := os.ReadFile(filepath.Join(g.root, h.Name, "rc"))
		g.onLogin(h.Name, "exec 2>>../stderr; "+string(rc))
	}
	exe, err := os.Executable()
	must(g.t, err)
	text, err := json.Marshal(castDescription{
		Source: c.Source,
		Dest:   c.Dest,
		Exec:   c.Exec,
		Data:   c.Data,
		Hosts:  c.Hosts,
		Shell:  c.Shell,
		Spool:  c.Spool,
		Rate:   c.Rate,
	})
	must(g.t, err)
	p := &castingProcess{Cmd: exec.Command(exe, "caster"), said: map[string]bool{}}
	p.Env = append(os.Environ(), "MOB_TEST_CAST="+string(text))
	p.Stderr = &p.stderr
	in, err := p.StdinPipe()
	must(g.t, err)
	go func() { _, _ = in.Write(randomBytes(1 << 20)) }() // of a stream, which does not end
	out, err := p.StdoutPipe()
	must(g.t, err)
	must(g.t, p.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			f := strings.Fields(lines.Text())
			p.mu.Lock()
			p.said[f[0]+" "+f[1]] = true
			p.mu.Unlock()
		}
	}()
	g.t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = in.Close()
		<-read
	})
	return p
}

// await waits until hosts are in a phase.
func (p *castingProcess) await(t testing.TB, phase Phase, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		await(t, fmt.Sprintf("%s %s", h, phase), func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.said[h+" "+string(phase)]
		})
	}
}

// checkStderr checks the errors of a host.
func (g *grid) checkStderr(name, want string) {
	g.t.Helper()
	text, err := os.ReadFile(filepath.Join(g.root, name, "stderr"))
	must(g.t, err)
	if !strings.Contains(string(text), want) {
		g.t.Errorf("%s wrote %q, want %q", name, text, want)
	}
}

// awaitEnd waits until no agents are left.
func (g *grid) awaitEnd(names ...string) {
	g.t.Helper()
	for _, name := range names {
		await(g.t, "the end of the agent of "+name, func() bool { return len(g.agents(name)) == 0 })
		await(g.t, "the cleanup of "+name, func() bool {
			left, _ := filepath.Glob(filepath.Join(g.root, name, "tmp", "*"))
			return len(left) == 0
		})
	}
}

// TestCasterKilled kills the caster in the middle of a file, of a stream, and of one with a command. No
// host keeps a part, no command takes what it got for all, and nothing is left.
func TestCasterKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("agents wait for neighbors")
	}
	t.Parallel()
	for _, kind := range []string{"file", "stream", "command"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a", "b")
			path, _ := randomFile(t, "src", 16<<20)
			c := testCast{Config: g.config(path, "a", "b"), Rate: heldRate}
			part := func(name string) bool { return exists(g.home(name, "src")) }
			switch kind {
			case "stream":
				c.Source, c.Dest = "-", "src"
				part = func(name string) bool {
					parts, _ := filepath.Glob(g.home(name, ".mob-*"))
					return len(parts) > 0
				}
			case "command":
				c.Exec = "cat >src; echo >complete"
			}
			p := g.startCaster(c)
			for _, name := range []string{"a", "b"} {
				await(t, "a part at "+name, func() bool { return part(name) })
			}
			must(t, p.Process.Kill())
			_ = p.Wait()
			g.awaitEnd("a", "b")
			for _, name := range []string{"a", "b"} {
				g.checkStderr(name, "mob: lost the caster before the transfer completed")
				if kind == "command" {
					must(t, os.Remove(g.home(name, "src"))) // the command wrote it
				}
				g.checkEmpty(g.home(name))
			}
		})
	}
}

// TestCasterKilledLate kills the caster when some hosts are done: they keep what they have.
func TestCasterKilledLate(t *testing.T) {
	if testing.Short() {
		t.Skip("agents wait for neighbors")
	}
	t.Parallel()
	g := newGrid(t, "a", "b", "late")
	pid := filepath.Join(g.root, "late", "pid")
	g.onLogin("late", "echo $$ >../new; mv ../new ../pid; exec sleep 3600")
	path, content := randomFile(t, "src", 1<<20)
	p := g.startCaster(testCast{Config: g.config(path, "a", "b", "late")})
	p.await(t, Done, "a", "b")
	await(t, "the login of the last host", func() bool { return exists(pid) })
	b, err := os.ReadFile(pid)
	must(t, err)
	sleeps, err := strconv.Atoi(strings.TrimSpace(string(b)))
	must(t, err)
	t.Cleanup(func() { must(t, syscall.Kill(sleeps, syscall.SIGKILL)) })
	must(t, p.Process.Kill())
	_ = p.Wait()
	g.awaitEnd("a", "b")
	g.checkFile(content, g.home("a", "src"))
	g.checkFile(content, g.home("b", "src"))
}

// TestCasterInterrupted sends a signal to the caster during a cast. It waits for its agents.
func TestCasterInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a", "b")
			path, _ := randomFile(t, "src", 16<<20)
			p := g.startCaster(testCast{Config: g.config(path, "a", "b"), Rate: heldRate})
			for _, name := range []string{"a", "b"} {
				await(t, "a part at "+name, func() bool { return exists(g.home(name, "src")) })
			}
			must(t, p.Process.Signal(s))
			_ = p.Wait()
			if status := p.ProcessState.ExitCode(); status != 1 {
				t.Errorf("status %d: %s", status, &p.stderr)
			}
			for _, name := range []string{"a", "b"} {
				if n := len(g.agents(name)); n > 0 {
					t.Errorf("%d agents are left", n)
				}
				g.checkEmpty(g.home(name))
				g.checkStderr(name, "the cast was given up")
			}
			g.checkClean()
		})
	}
}
