package cast

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// Transfers that something happens to midway take some seconds.
const (
	slowNIC  = 2.5 * netns.MBps
	slowSize = 15e6
	// halfway is the least size of the part that a host has then, in bytes.
	halfway = 3e6
)

// newSlowSite is a site of two clusters of these sizes whose hosts have the program, with content that takes seconds.
func newSlowSite(t *testing.T, nodes ...int) (s *site, path string) {
	t.Helper()
	s = newSite(t, slowNIC, nodes, there)
	return s, s.file("content", slowSize)
}

// TestCasterKilled kills mob cast midway: all hosts end by themselves, and nothing is
// left.
func TestCasterKilled(t *testing.T) {
	s, path := newSlowSite(t, 3, 3)
	c := s.start(nil, path)
	for _, h := range s.hosts {
		awaitPart(h, t, "content", halfway)
	}
	if err := c.proc.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.proc.Wait() // killed
	for _, h := range s.hosts {
		await(t, "the processes end", func() bool { return len(agents(t, h)) == 0 })
	}
	s.completeOrNone(path)
}

// completeOrNone checks that hosts have the content or nothing: the clusters may have had all of it between
// them when the cast ended.
func (s *site) completeOrNone(path string) {
	s.t.Helper()
	for _, h := range s.hosts {
		if _, err := os.Stat(h.Home() + "/content"); err == nil {
			s.same(path, "content", h)
		}
	}
	s.cleanAfter(s.hosts, "content")
}

// TestInterrupted ends mob cast by SIGINT, SIGTERM and SIGHUP.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup the tests ignore it, and so would mob
	t.Cleanup(func() { signal.Stop(hangups) })
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s, path := newSlowSite(t, 2, 2)
			c := s.start(nil, path)
			for _, h := range s.hosts {
				awaitPart(h, t, "content", halfway)
			}
			if err := c.proc.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = c.proc.Wait()
			if c.cmd.ProcessState.ExitCode() == 0 {
				t.Errorf("%v", c.cmd.ProcessState)
			}
			s.completeOrNone(path)
			for _, name := range list(t, s.dir) {
				if name != "content" {
					t.Errorf("%s is left where mob cast ran", name)
				}
			}
		})
	}
}

// TestAgentsKilled kills the agents of two hosts, and a third host with everything on it.
func TestAgentsKilled(t *testing.T) {
	s, path := newSlowSite(t, 3, 4)
	c := s.start(nil, path)
	victims := []string{"A1", "B2", "B3"}
	left := s.without("A2", "B0", "B1") // hosts may start, and be done, seconds apart
	await(t, "half of the content on the victims", func() bool {
		left = slices.DeleteFunc(left, func(h *sshd.Host) bool {
			if !hasPart(h, "content", halfway) {
				return false
			}
			if h.Name == "B3" {
				if err := h.Kill(); err != nil {
					t.Error(err)
				}
				return true
			}
			running := agents(t, h)
			if len(running) == 0 {
				t.Errorf("no agent runs on %s", h.Name)
			}
			for _, p := range running {
				if err := syscall.Kill(p.Pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			return true
		})
		return len(left) == 0
	})
	all := c.wait(1)
	for _, name := range victims {
		if r := all[name]; r.Phase != "failed" || r.Error == "" {
			t.Errorf("%s, which was killed: %+v", name, r)
		}
	}
	s.same(path, "content", s.without(victims...)...)
	s.cleanAfter(s.without("B3"), "content")
}

// TestSessionLost kills the server's end of one login: the other ones do not wait for the host,
// and nothing is left on it.
func TestSessionLost(t *testing.T) {
	s, path := newSlowSite(t, 3, 3)
	c := s.start(nil, path)
	lost := s.host("B1")
	awaitPart(lost, t, "content", halfway)
	processes, err := lost.Processes()
	if err != nil {
		t.Fatal(err)
	}
	sessions := 0
	for _, p := range processes {
		if strings.HasPrefix(p.Command, "sshd:") {
			sessions++
			if err := syscall.Kill(p.Pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	}
	if sessions == 0 {
		t.Fatalf("no login among %v", processes)
	}
	all := c.wait(1)
	if r := all["B1"]; r.Phase != "failed" || r.Error == "" {
		t.Errorf("the host whose login was lost: %+v", r)
	}
	s.same(path, "content", s.without("B1")...)
	s.cleanAfter(s.hosts, "content")
}

// TestStopped stops everything on one host: the other hosts are done before it is given up.
func TestStopped(t *testing.T) {
	s, path := newSlowSite(t, 3, 4)
	c := s.start(nil, path)
	stopped := s.host("B1")
	awaitPart(stopped, t, "content", 1)
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	all := c.wait(1)
	if r := all["B1"]; r.Phase != "failed" || !strings.Contains(r.Error, "silent") {
		t.Errorf("the stopped host: %+v", r)
	}
	for _, h := range s.without("B1") {
		if all[h.Name].Seconds > all["B1"].Seconds {
			t.Errorf("%s was done after %.2f s, the stopped host was given up after %.2f s", h.Name, all[h.Name].Seconds, all["B1"].Seconds)
		}
	}
	s.same(path, "content", s.without("B1")...)
	if err := stopped.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.cleanAfter(s.hosts, "content")
}

// TestSlowHost casts to a host behind slow links, too: the other ones have the content long before it.
func TestSlowHost(t *testing.T) {
	s := newSite(t, lan, []int{3, 2, 1}, there)
	for _, name := range []string{"A", "B"} {
		if err := s.grid.SetRate(name, "C", lan/200); err != nil {
			t.Fatal(err)
		}
	}
	path := s.file("content", 6e6)
	all := s.start(nil, path).wait(0)
	for _, h := range s.without("C0") {
		if all[h.Name].Seconds > all["C0"].Seconds*3/4 {
			t.Errorf("%s has it after %.2f s, the slow host after %.2f s", h.Name, all[h.Name].Seconds, all["C0"].Seconds)
		}
	}
	s.same(path, "content", s.hosts...)
	s.cleanAfter(s.hosts, "content")
}

// TestStreamCutShort kills mob cast during a stream: no command takes that for its
// end.
func TestStreamCutShort(t *testing.T) {
	s := newSite(t, lan, []int{2, 2}, there)
	path := s.file("part", 3e6)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c := s.start(r, "-", "--exec", "cat >part && echo >whole")
	part, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(part); err != nil {
		t.Fatal(err)
	}
	for _, h := range s.hosts {
		awaitPart(h, t, "part", int64(len(part)))
	}
	s.same(path, "part", s.hosts...) // it flows, though no end is in sight
	if err := c.proc.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.proc.Wait() // killed
	s.cleanAfter(s.hosts, "part")
}
