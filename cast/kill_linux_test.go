package cast

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/limit"
)

// agents returns the processes of agents on a host, without those that they are about to start.
func (g *grid) agents(name string) (pids []int) {
	var parents []int
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		env, _ := os.ReadFile(filepath.Join(proc, "environ"))
		arg, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		args := strings.Split(string(arg), "\x00")
		host := "MOB_TEST_HOST=" + filepath.Join(g.root, name)
		if len(args) > 1 && args[1] == "agent" && bytes.Contains(append(env, 0), append([]byte(host), 0)) {
			pid, _ := strconv.Atoi(filepath.Base(proc))
			pids = append(pids, pid)
			stat, _ := os.ReadFile(filepath.Join(proc, "stat"))
			if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(f) > 1 {
				parent, _ := strconv.Atoi(f[1])
				parents = append(parents, parent)
			} else {
				parents = append(parents, 0)
			}
		}
	}
	var own []int
	for i, pid := range pids {
		if !slices.Contains(pids, parents[i]) {
			own = append(own, pid)
		}
	}
	return own
}

// signal sends a signal to the agent of a host.
func (g *grid) signal(name string, s syscall.Signal) {
	g.t.Helper()
	pids := g.agents(name)
	if len(pids) != 1 {
		g.t.Errorf("%s has %d agents", name, len(pids))
	}
	for _, pid := range pids {
		must(g.t, syscall.Kill(pid, s))
	}
}

// phases waits for phases of hosts.
type phases struct {
	mu   sync.Mutex
	cond sync.Cond
	are  map[int]Phase
	seen map[hostPhase]bool
}

// hostPhase is a phase in which a host has been.
type hostPhase struct {
	host  int
	phase Phase
}

func newPhases() *phases {
	p := &phases{are: map[int]Phase{}, seen: map[hostPhase]bool{}}
	p.cond.L = &p.mu
	return p
}

func (p *phases) event(e Event) {
	if e.Host != nil {
		p.mu.Lock()
		p.are[e.Index] = e.Host.Phase
		p.seen[hostPhase{e.Index, e.Host.Phase}] = true
		p.mu.Unlock()
		p.cond.Broadcast()
	}
}

// is reports whether a host is in a phase.
func (p *phases) is(phase Phase, host int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.are[host] == phase
}

// await waits until these hosts have been in a phase, or have failed.
func (p *phases) await(want Phase, hosts ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range hosts {
		for !p.seen[hostPhase{i, want}] && p.are[i] != Failed {
			p.cond.Wait()
		}
	}
}

// TestAgentsKilled kills agents before, during and after a transfer. The other hosts get the stream.
func TestAgentsKilled(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "good", "before", "in", "after", "other")
	content := randomBytes(2 << 20)
	r, w := io.Pipe()
	cfg := g.config("-", "good", "before", "in", "after", "other")
	cfg.Stdin = r
	cfg.Exec = `if [ $MOB_HOST = after ]; then head -c 10 >out; else cat >out; fi`
	p := newPhases()
	cfg.Event = p.event
	go func() {
		p.await(Fetching, 0, 1, 2, 3, 4)
		g.signal("before", syscall.SIGKILL)
		p.await(Failed, 1)
		_, _ = w.Write(content[:1<<20])
		await(t, "bytes at the host", func() bool {
			info, err := os.Stat(g.home("in", "out"))
			return err == nil && info.Size() > 0
		})
		g.signal("in", syscall.SIGKILL)
		p.await(Failed, 2)
		p.await(Done, 3)
		g.signal("after", syscall.SIGKILL)
		_, _ = w.Write(content[1<<20:])
		_ = w.Close()
	}()
	res, err := g.cast(cfg)
	must(t, err)
	g.checkFile(content, g.home("good", "out"))
	g.checkFile(content, g.home("other", "out"))
	g.checkFile(content[:10], g.home("after", "out"))
	for i, want := range []Phase{Done, Failed, Failed, Done, Done} {
		if h := res.Hosts[i]; h.Phase != want || (h.Error == "") != (want == Done) {
			t.Errorf("%+v", h)
		}
	}
}

// TestAgentKilledOfFile kills an agent while it fetches a file, which leaves a part of it.
func TestAgentKilledOfFile(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b", "c")
	path, content := randomFile(t, "src", 4<<20)
	cfg := g.config(path, "a", "b", "c")
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		await(t, "a part of the file", func() bool { return exists(g.home("b", "src")) })
		g.signal("b", syscall.SIGKILL)
	}()
	res, err := (&testCast{Config: cfg, Rate: heldRate, hold: killed}).run(t.Context())
	must(t, err)
	<-killed
	g.awaitClean()
	g.checkClean()
	g.checkFile(content, g.home("a", "src"))
	g.checkFile(content, g.home("c", "src"))
	checkFailed(t, &res.Hosts[1], "")
}

// TestForceCutShort ends casts with Force midway: one by the death of an agent, one entirely. Existing files are partly
// lost, which the result reports, and another cast completes them.
func TestForceCutShort(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	path, content := randomFile(t, "src", 4<<20)
	old := bytes.Repeat([]byte("old\n"), len(content)/4)
	check := func(r *HostResult, phase Phase, overwriting bool) {
		t.Helper()
		if r.Phase != phase || r.Overwriting != overwriting {
			t.Errorf("%s: %s, overwriting %v; want %s, %v", r.Name, r.Phase, r.Overwriting, phase, overwriting)
		}
	}
	for _, dies := range []bool{true, false} {
		for _, name := range []string{"a", "b"} {
			must(t, os.WriteFile(g.home(name, "src"), old, 0o600))
		}
		cfg := g.config(path, "a", "b")
		cfg.Force = true
		ctx, cancel := context.WithCancel(t.Context())
		hit, killed := make(chan struct{}), make(chan struct{})
		var once sync.Once
		cfg.Event = func(e Event) {
			if e.Host != nil && e.Index == 1 && e.Host.Overwriting {
				once.Do(func() { close(hit) })
			}
		}
		go func() {
			<-hit
			if dies {
				g.signal("b", syscall.SIGKILL)
				close(killed)
			} else {
				cancel()
			}
		}()
		r, err := (&testCast{Config: cfg, Rate: 8 * heldRate, hold: killed}).run(ctx)
		cancel()
		if dies {
			must(t, err)
			check(&r.Hosts[0], Done, false)
			check(&r.Hosts[1], Failed, true)
		} else {
			if err == nil {
				t.Error("no error")
			}
			check(&r.Hosts[1], Fetching, true)
		}
		if got, err := os.ReadFile(g.home("b", "src")); err != nil || bytes.Equal(got, content) {
			t.Errorf("it has all of it, or nothing: %v", err)
		}
		cfg.Event = nil
		g.mustCast(cfg)
		g.checkFile(content, g.home("a", "src"))
		g.checkFile(content, g.home("b", "src"))
	}
}

// TestStoppedAgent stops an agent. It does not count as silent before the other hosts are done, so they do not wait for it;
// then the caster gives it up.
func TestStoppedAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a host counts as silent")
	}
	t.Parallel()
	g := newGrid(t, "a", "hangs", "c")
	path, content := randomFile(t, "src", 4<<20)
	cfg := g.config(path, "a", "hangs", "c")
	var c *caster
	done := map[int]bool{}
	cfg.Event = func(e Event) { // of look, which reads silence
		if e.Host != nil && e.Host.Phase == Done {
			if done[e.Index] = true; done[0] && done[2] {
				c.silence = 4 * time.Second
			}
		}
	}
	var err error
	c, err = newCaster(cfg)
	must(t, err)
	c.silence = time.Hour
	c.node.SetLimits(limitOf(heldRate))
	stopped := make(chan []int, 1)
	go func() {
		await(t, "a part of the file", func() bool { return exists(g.home("hangs", "src")) })
		stopped <- g.agents("hangs")
		g.signal("hangs", syscall.SIGSTOP)
		c.node.SetLimits(limit.Limits{})
	}()
	must(t, c.run(t.Context()))
	must(t, c.node.close())
	g.checkFile(content, g.home("a", "src"))
	g.checkFile(content, g.home("c", "src"))
	checkFailed(t, &c.result().Hosts[1], "silent for 4 s")
	for _, pid := range <-stopped {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	await(t, "the end of the agent that hung", func() bool { return len(g.agents("hangs")) == 0 })
	await(t, "its cleanup", func() bool { return !exists(g.home("hangs", "src")) })
}

// TestFullDisk casts to a host with a full disk.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root for a file system")
	}
	t.Parallel()
	g := newGrid(t, "good", "full")
	small := g.home("full")
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(small, syscall.MNT_DETACH) })
	path, content := randomFile(t, "src", 3<<20)
	for _, source := range []string{path, "-"} {
		cfg := g.config(source, "good", "full")
		cfg.Dest, cfg.Stdin, cfg.Force = "src", bytes.NewReader(content), true
		r, err := g.cast(cfg)
		must(t, err)
		g.checkFile(content, g.home("good", "src"))
		want := "src needs 3.1 MB and the disk has less free: free disk space, or choose another path"
		if source == "-" {
			want = "the disk is full: src does not fit"
		}
		checkFailed(t, &r.Hosts[1], want)
		g.checkEmpty(small)
	}
}

// TestGivenUp checks that hosts that are given up in any phase keep nothing, and get the content from another cast.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "good", "slow", "hangs")
	g.onLogin("hangs", "[ -f ../hung ] || { touch ../hung; exec sleep 3600; }")
	cfg := g.config("-", "good", "slow", "hangs")
	cfg.Stdin, cfg.Min = bytes.NewReader(randomBytes(3<<20)), 1
	cfg.Exec = `if [ %h = good ]; then cat >out; else cat >part; echo >started; sleep 3600; fi`
	r, err := (&testCast{Config: cfg}).run(t.Context())
	must(t, err)
	g.awaitClean()
	g.checkFile(randomBytes(3<<20), g.home("good", "out"))
	for i := range r.Hosts[1:] {
		checkFailed(t, &r.Hosts[1+i], "grace of 0s")
	}

	path, content := randomFile(t, "src", 5<<20)
	cfg = g.config(path, "good", "slow")
	cfg.Deadline = time.Second
	r, err = (&testCast{Config: cfg, Rate: heldRate}).run(t.Context())
	must(t, err)
	g.awaitClean()
	for i := range r.Hosts {
		checkFailed(t, &r.Hosts[i], "deadline of 1s")
		if name := r.Hosts[i].Name; exists(g.home(name, "src")) {
			t.Errorf("%s has a part", name)
		}
	}
	cfg.Deadline = 0
	g.mustCast(cfg)
	g.checkFile(content, g.home("slow", "src"))
}
