package launch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// forest is a [Runner] of hosts in memory. A login takes a second. Their agents are relays, and answer each message with its text.
type forest struct {
	scripted
	busy   bool   // the first login of an agent to each host fails
	denied string // the host whose agent can log in to no other, or "all"
	mu     sync.Mutex
	inputs map[string]*io.PipeReader
	status map[string]int  // of killed logins
	logins map[string]bool // the hosts whose first login has failed
}

func newForest() *forest {
	f := &forest{inputs: map[string]*io.PipeReader{}, status: map[string]int{}, logins: map[string]bool{}}
	f.scripted = f.agent
	return f
}

// busyHosts is the [Runner] of the agents of a forest with busy hosts.
type busyHosts struct{ *forest }

func (b busyHosts) Run(host, line string, stdout, stderr io.Writer) (Command, error) {
	b.mu.Lock()
	again := b.logins[host]
	b.logins[host] = true
	b.mu.Unlock()
	if again {
		return b.forest.Run(host, line, stdout, stderr)
	}
	_, _ = io.WriteString(stderr, "kex_exchange_identification: Connection closed by remote host\n")
	return scripted(func(string, *io.PipeReader, io.Writer) int { return connectionLost }).Run(host, line, stdout, stderr)
}

// deniedHosts is the [Runner] of an agent that can log in to no host.
type deniedHosts struct{ *forest }

func (deniedHosts) Run(host, line string, stdout, stderr io.Writer) (Command, error) {
	_, _ = io.WriteString(stderr, "Permission denied (publickey).\n")
	return scripted(func(string, *io.PipeReader, io.Writer) int { return connectionLost }).Run(host, line, stdout, stderr)
}

func (f *forest) agent(host string, in *io.PipeReader, out io.Writer) int {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return 1
	}
	time.Sleep(time.Second)
	f.mu.Lock()
	f.inputs[host] = in
	f.mu.Unlock()
	var mu sync.Mutex
	ended := false
	send := func(v any) {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			_ = WriteRecord(out, v)
		}
	}
	relay := NewRelay(func(f *Frame) { send(&relayMessage{f}) })
	relay.runner = func(Shell) Runner {
		if f.denied == host || f.denied == "all" {
			return deniedHosts{f}
		}
		if f.busy {
			return busyHosts{f}
		}
		return f
	}
	send(map[string]any{"hello": &Hello{Platform: "linux/amd64", Dir: "/tmp/mob.x"}})
	for lines.Scan() {
		var m relayMessage
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Relay != nil {
			relay.Handle(m.Relay)
			continue
		}
		send(map[string]json.RawMessage{"echo": append(json.RawMessage{}, lines.Bytes()...)})
	}
	mu.Lock()
	ended = true
	mu.Unlock()
	relay.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status[host]
}

// kill ends the login to a host with a status.
func (f *forest) kill(host string, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status[host] = status
	_ = f.inputs[host].Close()
}

// grown are the processes of a forest.
type grown struct {
	mu      sync.Mutex
	at      map[string]time.Duration // of the start, or of the last attach
	running map[string]*Process
	again   bool // a lost host is attached again
	all     sync.WaitGroup
}

// grow starts the agents of n hosts of one cluster.
func grow(t *testing.T, c *Launcher, n int) *grown {
	g := &grown{at: map[string]time.Duration{}, running: map[string]*Process{}, again: true}
	began := time.Now()
	for i := range n {
		host := fmt.Sprintf("n%d", i)
		g.all.Go(func() {
			p, err := c.Start(t.Context(), host, "A", noNote)
			for err == nil {
				g.mu.Lock()
				g.at[host], g.running[host] = time.Since(began), p
				g.mu.Unlock()
				for err == nil {
					_, err = p.Next()
				}
				p.Wait()
				g.mu.Lock()
				delete(g.running, host)
				again := g.again && p.Lost()
				g.mu.Unlock()
				if !again {
					return
				}
				p, err = c.Attach(t.Context(), p, "A")
			}
			t.Errorf("%s: %v", host, err)
		})
	}
	return g
}

// last returns the time of the last start, and the number of running agents.
func (g *grown) last() (last time.Duration, running int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, at := range g.at {
		last = max(last, at)
	}
	return last, len(g.running)
}

// relay returns a host that runs agents of other hosts. first selects one that the caster has logged in to.
func (g *grown) relay(first bool) (host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, p := range g.running {
		_, below := p.command.(*remoteCommand)
		if len(p.remote.running) > 0 && below != first {
			return name
		}
	}
	return ""
}

// endAll checks that n hosts run after half a minute, and ends them.
func (g *grown) endAll(t *testing.T, n int) {
	t.Helper()
	time.Sleep(30 * time.Second)
	if _, running := g.last(); running != n {
		t.Errorf("%d of %d hosts", running, n)
	}
	g.end()
}

func (g *grown) end() {
	g.mu.Lock()
	g.again = false
	for _, p := range g.running {
		p.CloseStdin()
	}
	g.mu.Unlock()
	g.all.Wait()
}

// TestTree starts 100 hosts with logins of a second: flat, by a tree, and by a tree that loses a relay or a login at some time.
func TestTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		tree  int
		kill  time.Duration // the time at which a relay is killed; 0 for never
		first bool
		exit  int // status of the killed login
		most  time.Duration
	}{
		{"flat", 0, 0, false, 0, 14 * time.Second},
		{"tree", 8, 0, false, 0, 3 * time.Second},
		{"relay killed during the start", 8, 2500 * time.Millisecond, false, 0, 7 * time.Second},
		{"relay killed after the start", 8, 10 * time.Second, false, 0, 15 * time.Second},
		{"relay of the caster killed", 8, 10 * time.Second, true, 0, 15 * time.Second},
		{"login of a relay lost", 8, 10 * time.Second, false, 255, 15 * time.Second},
		{"login of the caster lost", 8, 10 * time.Second, true, 255, 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, want := newForest(), 100
				g := grow(t, New(Config{Programs: oneProgram(), Shell: f, Window: 8, Children: c.tree}), want)
				if c.kill > 0 {
					time.Sleep(c.kill)
					f.kill(g.relay(c.first), c.exit)
					if c.exit != connectionLost {
						want--
					}
				}
				time.Sleep(30 * time.Second)
				last, running := g.last()
				if last > c.most || running != want {
					t.Errorf("%d of %d hosts after %v, want %v at most", running, want, last, c.most)
				}
				t.Logf("%d hosts after %v", running, last)
				g.end()
			})
		})
	}
}

// TestTreeBusyHosts checks that hosts that have too many concurrent logins are tried again, by an agent and by the caster, whose window
// is smaller than the number of such hosts.
func TestTreeBusyHosts(t *testing.T) {
	t.Parallel()
	for _, caster := range []bool{false, true} {
		t.Run(fmt.Sprint("caster ", caster), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newForest()
				cfg := Config{Programs: oneProgram(), Shell: f, Window: 2, Children: 2}
				if f.busy = !caster; caster {
					cfg.Shell = busyHosts{f}
				}
				g := grow(t, New(cfg), 10)
				g.endAll(t, 10)
			})
		})
	}
}

// TestTreeDenied checks that the caster logs in to the hosts that an agent cannot log in to: one agent, or each.
func TestTreeDenied(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"n0", "all"} {
		t.Run(denied, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newForest()
				f.denied = denied
				g := grow(t, New(Config{Programs: oneProgram(), Shell: f, Children: 2}), 30)
				g.endAll(t, 30)
			})
		})
	}
}

// TestRelayWindow checks that a host that does not read holds up no other host of its relay, and that a relay that sends more than its
// window is killed.
func TestRelayWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		stdout, written := io.Pipe()
		var mu sync.Mutex
		sent := map[int]int{}
		relay := NewRelay(func(f *Frame) {
			mu.Lock()
			defer mu.Unlock()
			sent[f.ID] += len(f.Data) + f.Acked
		})
		relay.runner = func(Shell) Runner {
			return scripted(func(host string, stdin *io.PipeReader, stdout io.Writer) int {
				if host == "hangs" {
					_, _ = stdout.Write(make([]byte, 2*maxUnacked))
					_, _ = io.Copy(io.Discard, in)
					return 0
				}
				_, _ = io.Copy(stdout, stdin)
				return 0
			})
		}
		relay.Handle(&Frame{ID: 1, Run: &Run{Host: "hangs"}})
		relay.Handle(&Frame{ID: 2, Run: &Run{Host: "reads"}})
		for id := range 2 {
			relay.Handle(&Frame{ID: id + 1, Data: make([]byte, 1000)})
		}
		synctest.Wait()
		mu.Lock()
		if sent[1] != maxUnacked || sent[2] != 2000 {
			t.Errorf("sent %v", sent)
		}
		mu.Unlock()
		relay.Close()
		_ = out.Close()

		p := &Process{
			out: stdout, records: newRecordReader(stdout), command: &scriptedCommand{PipeWriter: out, in: in},
			alive: t.Context(),
		}
		p.stdin.init()
		p.remote = &remote{process: p, shell: Shell{"rsh"}, ids: new(atomic.Int64)}
		unread, block := io.Pipe()
		defer unread.Close()
		if _, err := p.remote.Run("n1", "", block, io.Discard); err != nil {
			t.Fatal(err)
		}
		go func() {
			for range maxUnacked/maxFrame + 1 {
				_ = WriteRecord(written, &relayMessage{&Frame{ID: 1, Data: make([]byte, maxFrame)}})
			}
			_ = written.Close()
		}()
		if _, err := p.Next(); err != io.EOF || p.why != errWindow {
			t.Errorf("%v, %v", err, p.why)
		}
	})
}

// TestFramesOfFormerLogin checks that the end of a command of a former login of an agent ends no command of the next login.
func TestFramesOfFormerLogin(t *testing.T) {
	t.Parallel()
	c := New(Config{Programs: oneProgram(), Shell: newForest(), Children: 8})
	var logins [2]*remote
	for i := range logins {
		p := new(Process)
		p.stdin.init()
		logins[i] = &remote{process: p, shell: c.cfg.Shell, ids: &c.ids}
		command, err := logins[i].Run("n1", "", io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		defer command.Wait()
		defer logins[i].lose()
	}
	for id := range logins[0].running {
		record, err := json.Marshal(&relayMessage{&Frame{ID: id, Exited: &Exited{Status: 1}}})
		if err != nil || !logins[1].take(record) {
			t.Fatal(err)
		}
	}
	if len(logins[1].running) != 1 {
		t.Error("the command of the next login has ended")
	}
}
