package cast

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// relay waits for a host that has logged in to another one, and returns it. first selects the host that the caster has logged in to.
func (g *grid) relay(first bool, hosts []string) (relay string) {
	await(g.t, "a relay", func() bool {
		via := map[string]string{}
		for _, name := range hosts {
			b, _ := os.ReadFile(filepath.Join(g.root, name, "via"))
			via[name] = strings.TrimSpace(string(b))
		}
		for _, of := range via {
			if of != "" && (via[of] == "") == first {
				relay = of
			}
		}
		return relay != ""
	})
	return relay
}

// TestTreeRelayKilled kills a host with hosts behind it during their start, or during the transfer of a file or a stream. All other
// hosts get the content.
func TestTreeRelayKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stream, first, start bool }{
		"file": {}, "file, first": {first: true}, "stream": {stream: true}, "stream, first": {stream: true, first: true},
		"start": {start: true}, "start, first": {start: true, first: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := hostNames(7)
			g := newGrid(t, hosts...)
			if c.start {
				for _, h := range hosts {
					g.onLogin(h, "sleep 0.3")
				}
			}
			path, content := randomFile(t, "src", 2<<20)
			cfg := g.config(path, hosts...)
			cfg.Tree = 2
			p := newPhases()
			cfg.Event = p.event
			w := io.Discard
			if c.stream {
				r, pipe := io.Pipe()
				cfg.Source, cfg.Stdin, cfg.Exec, w = "-", r, `cat >src; echo "$MOB_HOST"`, pipe
			}
			killed, hold := make(chan string, 1), make(chan struct{})
			go func() {
				defer close(killed)
				_, _ = w.Write(content[:1<<20])
				for i := range hosts {
					if !c.start {
						p.await(Fetching, i)
					}
				}
				relay := g.relay(c.first, hosts)
				g.signal(relay, syscall.SIGKILL)
				killed <- relay
				close(hold) // before that it may be done
				_, _ = w.Write(content[1<<20:])
				if pipe, ok := w.(*io.PipeWriter); ok {
					_ = pipe.Close()
				}
			}()
			res, err := (&testCast{Config: cfg, Rate: heldRate, hold: hold}).run(t.Context())
			must(t, err)
			relay := <-killed
			for i := range res.Hosts {
				switch h := &res.Hosts[i]; {
				case h.Name == relay:
					checkFailed(t, h, "")
				case h.Phase != Done:
					t.Errorf("%s: %s: %s", h.Name, h.Phase, h.Error)
				default:
					g.checkFile(content, g.home(h.Name, "src"))
				}
			}
			g.awaitClean()
		})
	}
}

// TestTreeLoginLost kills ssh between a relay and a host behind it. The caster logs in to the host again, and it gets the content.
func TestTreeLoginLost(t *testing.T) {
	t.Parallel()
	hosts := hostNames(3)
	g := newGrid(t, hosts...)
	for _, h := range hosts {
		g.onLogin(h, `{ setsid -f -w sh -c "$2" <&3 & } 3<&0; echo $! >>../logins; wait $!; exit 255`)
	}
	content := randomBytes(1 << 20)
	r, w := io.Pipe()
	cfg := g.config("-", hosts...)
	cfg.Tree, cfg.Stdin, cfg.Dest = 1, r, "dst"
	p := newPhases()
	cfg.Event = p.event
	go func() {
		p.await(Fetching, 0, 1, 2)
		host := g.relay(false, hosts)
		logins := func() []string {
			b, _ := os.ReadFile(filepath.Join(g.root, host, "logins"))
			return strings.Fields(string(b))
		}
		await(t, "the first login", func() bool { return len(logins()) > 0 })
		pid, err := strconv.Atoi(logins()[0])
		must(t, err)
		must(t, syscall.Kill(pid, syscall.SIGKILL))
		await(t, "another login", func() bool { return len(logins()) == 2 || p.is(Failed, slices.Index(hosts, host)) })
		_, _ = w.Write(content)
		_ = w.Close()
	}()
	g.mustCast(cfg)
	for _, h := range hosts {
		g.checkFile(content, g.home(h, "dst"))
	}
}

// TestTreeDeadline ends a cast at its deadline: nothing is left on a host, also of one that another host has logged in to.
func TestTreeDeadline(t *testing.T) {
	t.Parallel()
	hosts := hostNames(8)
	g := newGrid(t, hosts...)
	path, _ := randomFile(t, "src", 20<<20)
	cfg := g.config(path, hosts...)
	cfg.Tree, cfg.Deadline = 2, 4*time.Second
	r, err := (&testCast{Config: cfg, Rate: heldRate}).run(t.Context())
	must(t, err)
	g.awaitClean()
	for i := range r.Hosts {
		checkFailed(t, &r.Hosts[i], "deadline of 4s")
	}
}

// TestTreeRelayStopped stops a host with hosts behind it. It is given up, and all other hosts get the content.
func TestTreeRelayStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a host counts as silent")
	}
	t.Parallel()
	for name, first := range map[string]bool{"first": true, "second": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := hostNames(7)
			tree := 2
			if !first { // a chain: each relay above the stopped one adds to the time until it counts as silent
				hosts, tree = hosts[:4], 1
			}
			g := newGrid(t, hosts...)
			r, w := io.Pipe()
			cfg := g.config("-", hosts...)
			cfg.Tree, cfg.Stdin, cfg.Dest = tree, r, "dst"
			p := newPhases()
			cfg.Event = p.event
			c, err := newCaster(cfg)
			must(t, err)
			c.silence = 10 * time.Second
			content := randomBytes(1 << 20)
			stopped := make(chan string, 1)
			go func() {
				for i := range hosts {
					p.await(Fetching, i)
				}
				relay := g.relay(first, hosts)
				g.signal(relay, syscall.SIGSTOP)
				stopped <- relay
				for i := range hosts {
					if hosts[i] == relay {
						p.await(Failed, i)
					}
				}
				_, _ = w.Write(content)
				_ = w.Close()
			}()
			must(t, c.run(t.Context()))
			must(t, c.node.close())
			relay := <-stopped
			for _, h := range c.result().Hosts {
				switch {
				case h.Name == relay:
					checkFailed(t, &h, "silent for 10 s")
				case h.Phase != Done:
					t.Errorf("%s: %s: %s", h.Name, h.Phase, h.Error)
				default:
					g.checkFile(content, g.home(h.Name, "dst"))
				}
			}
			g.signal(relay, syscall.SIGCONT)
			g.awaitClean()
		})
	}
}
