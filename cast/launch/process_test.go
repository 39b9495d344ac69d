package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHangingLogin checks that a login without messages is ended. It is ended with all that it started.
func TestHangingLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pid := filepath.Join(t.TempDir(), "pid")
	c := New(Config{Shell: s.shell("/bin/sh", `sleep 1000 & echo $! >"`+pid+`.new"; mv "`+pid+`.new" "`+pid+`"; wait;`), Programs: absent(t)})
	c.times.login = time.Second
	s.fails(c, "n1", "no answer for 1 s")
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Skip("the shell did not come so far: ", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	s.awaitExit(n)
}

// awaitExit waits until a process has ended.
func (s *site) awaitExit(pid int) {
	s.Helper()
	for end := time.Now().Add(waitTimeout); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("process %d is still there: %s", pid, stat)
		}
	}
}

// ends checks how the process on n1 ends, and that nothing of it is left.
func (s *site) ends(p *Process, status int, line string) {
	s.Helper()
	if record, err := p.Next(); err != io.EOF {
		s.Errorf("after its end: %s, %v", record, err)
	}
	if got, last := p.Wait(); got != status || last != line {
		s.Errorf("status %d: %s", got, last)
	}
	s.empty("n1")
}

func TestAgentKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.launcher(absent(t)), "n1")
	if err := syscall.Kill(s.ask(p, "one").Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.ends(p, 137, "killed (signal 9)")
}

func TestAgentFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.launcher(absent(t)), "n1")
	if err := p.Send("exit 7"); err != nil {
		t.Fatal(err)
	}
	s.ends(p, 7, "told to exit")
}

// TestShellKilled kills the remote shell: the agent exits.
func TestShellKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Programs: absent(t), Shell: Shell{"sh", "-c", `(` + s.login("/bin/sh", "") + `); exit $?`, "rsh"}})
	p := s.start(c, "n1")
	agent := s.ask(p, "one").Pid
	if err := syscall.Kill(p.command.(*local).cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	s.awaitExit(agent)
	s.empty("n1")
}

// TestSendAfterTimeout checks that a message to a host that was given up fails with the reason, as when its hello comes too late.
func TestSendAfterTimeout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p, why := s.start(s.launcher(absent(t)), "n1"), errors.New("no answer for 30 s")
	p.killFor(why)
	if err := p.Send("one"); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// TestCanceled cancels the start in each of its stages.
func TestCanceled(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"login", "turn", "download", "put"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c := s.launcher(absent(t))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			started := make(chan struct{}, 1)
			d, note := c.depotOf(place{"A", c.cfg.Programs.all[0].platform}), noNote
			switch stage {
			case "login":
				c.cfg.Shell = s.shell("/bin/sh", "sleep 1000;")
				note = func(string) { started <- struct{}{} }
			case "turn":
				d.puts = 1
				note = func(phase string) {
					if phase == "program" {
						started <- struct{}{}
					}
				}
			case "download":
				s.neighbor(c, func(_ http.ResponseWriter, r *http.Request) {
					started <- struct{}{}
					<-r.Context().Done()
				})
			case "put":
				fifo := filepath.Join(t.TempDir(), "started")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				s.fake("head", "echo >"+fifo+"; sleep 1000")
				c.cfg.Shell = s.shell("/bin/sh", "")
				go func() {
					_, _ = os.ReadFile(fifo)
					started <- struct{}{}
				}()
			}
			go func() {
				<-started
				cancel()
			}()
			if p, err := c.Start(ctx, "n1", "A", note); !errors.Is(err, context.Canceled) {
				t.Errorf("process %v, error %v", p != nil, err)
			}
			s.empty("n1")
		})
	}
}
