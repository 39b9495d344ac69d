package cast

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// gather gathers, and checks that nothing is left on hosts.
func (g *grid) gather(cfg Config) *Result {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	began := time.Now()
	r, err := Run(ctx, cfg)
	must(g.t, err)
	g.checkLeft(r, began)
	return r
}

// TestGather gathers files of two clusters. Two hosts have equal content, one has none, and the copy of one exists.
func TestGather(t *testing.T) {
	t.Parallel()
	names := hostNames(5)
	g := newGrid(t, names...)
	content := randomBytes(300_000)
	for i, name := range names[:4] {
		g.write(g.home(name, "log"), string(content[max(0, i-1):]))
	}
	out := t.TempDir()
	cfg := g.config("log", names...)
	cfg.Output = filepath.Join(out, "%c", "%h")
	cfg.Hosts[2].Cluster = "far"
	must(t, os.Mkdir(filepath.Join(out, DefaultCluster), 0o755))
	mine := filepath.Join(out, DefaultCluster, names[3])
	g.write(mine, "mine")
	r := g.gather(cfg)
	for i, h := range r.Hosts[:3] {
		want := content[max(0, i-1):]
		g.checkFile(want, filepath.Join(out, h.Cluster, h.Name))
		if h.Phase != Done || h.Bytes != int64(len(want)) || h.Length != h.Bytes || h.WAN < h.Bytes || h.LAN > 0 {
			t.Errorf("%+v", h)
		}
	}
	checkFailed(t, &r.Hosts[3], filepath.Join(out, "%c", "%h")+" exists already")
	g.checkFile([]byte("mine"), mine)
	checkFailed(t, &r.Hosts[4], "log does not exist")
	if left, _ := filepath.Glob(filepath.Join(out, ".mob*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestGatherFailsWithoutDirectory checks that a gather from hosts without PATH leaves no directory behind.
func TestGatherFailsWithoutDirectory(t *testing.T) {
	t.Parallel()
	g, out := newGrid(t, "a", "b"), t.TempDir()
	cfg := g.config("log", "a", "b")
	cfg.Output = filepath.Join(out, "new", "copies", "%c", "%h")
	for _, h := range g.gather(cfg).Hosts {
		checkFailed(t, &h, "log does not exist")
	}
	g.checkEmpty(out)
}

// TestGatherHasNoTracker checks that the node of a gather has no tracker, which it would wait for before it dials the host of a copy.
func TestGatherHasNoTracker(t *testing.T) {
	t.Parallel()
	n, err := startGatherNode(&Config{Output: filepath.Join(t.TempDir(), "%h"), Hosts: []Host{{Name: "n1", Cluster: "A"}}})
	must(t, err)
	if all := n.Trackers(); len(all) > 0 {
		t.Errorf("trackers %v", all)
	}
	must(t, n.close())
}

// TestGatherBehindNAT gathers from hosts that accept no connections, some by a login of another host: their nodes dial the caster's.
func TestGatherBehindNAT(t *testing.T) {
	t.Parallel()
	for _, tree := range []int{0, 1} {
		t.Run(fmt.Sprint("tree ", tree), func(t *testing.T) {
			t.Parallel()
			names := hostNames(3)
			g := newGrid(t, names...)
			content := randomBytes(300_000)
			for i, name := range names {
				g.onLogin(name, `sh -c "$2" | sed -u '/"ready"/s|/tcp/[0-9]*|/tcp/1|g'; exit`)
				g.write(g.home(name, "log"), string(content[i:]))
			}
			cfg := g.config("log", names...)
			cfg.Output, cfg.Tree = filepath.Join(t.TempDir(), "%h"), tree
			for i, h := range g.gather(cfg).Hosts {
				if h.Phase != Done {
					t.Errorf("%s: %s", h.Name, h.Error)
					continue
				}
				g.checkFile(content[i:], strings.Replace(cfg.Output, "%h", h.Name, 1))
			}
		})
	}
}

// TestGatherDirectory gathers a directory into one of each host.
func TestGatherDirectory(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	must(t, os.MkdirAll(g.home("a", "logs", "sub"), 0o755))
	content := randomBytes(100_000)
	g.write(g.home("a", "logs", "sub", "one"), string(content))
	g.write(g.home("a", "logs", "none"), "")
	must(t, os.Symlink("sub/one", g.home("a", "logs", "link")))
	out := t.TempDir()
	cfg := g.config("logs", "a")
	cfg.Output = filepath.Join(out, "%h") + "/"
	if h := g.gather(cfg).Hosts[0]; h.Phase != Done {
		t.Fatal(h.Error)
	}
	g.checkFile(content, filepath.Join(out, "a", "logs", "link"))
	g.checkFile(nil, filepath.Join(out, "a", "logs", "none"))
}

// TestGatherStateIsLink checks that a gather rejects a link at the name of its state, which another user may have created.
func TestGatherStateIsLink(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	g.write(g.home("a", "log"), "content")
	cfg := g.config("log", "a")
	cfg.Output = filepath.Join(t.TempDir(), "%h")
	other := t.TempDir()
	must(t, os.Symlink(other, gatherDir(cfg.Output)))
	if c, err := newCaster(cfg); err == nil {
		t.Error("the gather starts")
		must(t, c.close())
	}
	if found, err := os.ReadDir(other); err != nil || len(found) > 0 {
		t.Errorf("the other directory has %v, %v", found, err)
	}
}

// TestGatherResumes ends a gather when a part has arrived. The next one fetches the rest, and one of changed content all of it. Gathers
// that cannot start in the meantime leave the state.
func TestGatherResumes(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		t.Run(fmt.Sprint("changed ", changed), func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a", "b")
			content := randomBytes(6 << 20)
			for _, name := range []string{"a", "b"} {
				g.write(g.home(name, "log"), string(content))
			}
			out := t.TempDir()
			cfg := g.config("log", "a", "b")
			cfg.Output, cfg.Cluster = filepath.Join(out, "%h"), "here"
			fails := func() {
				t.Helper()
				if c, err := newCaster(cfg); err == nil {
					t.Error("another gather starts")
					must(t, c.close())
				}
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			c, err := newCaster(cfg)
			must(t, err)
			fails()
			c.node.SetLimits(limit.Limits{WANDown: 2 << 20})
			c.cfg.Event = func(e Event) {
				if e.Host != nil && e.Host.Bytes > 1<<20 {
					cancel(context.Canceled)
				}
			}
			_ = c.run(ctx)
			must(t, c.close())
			key := filepath.Join(gatherDir(cfg.Output), "key")
			must(t, os.Chmod(key, 0o644))
			fails()
			must(t, os.Chmod(key, 0o600))
			if changed {
				content = content[1:]
				for _, name := range []string{"a", "b"} {
					g.write(g.home(name, "log"), string(content))
				}
			}
			r := g.gather(cfg)
			for _, h := range r.Hosts {
				if h.Phase != Done {
					t.Error(h.Error)
				}
				g.checkFile(content, filepath.Join(out, h.Name))
			}
			if got := r.Hosts[0].WAN + r.Hosts[1].WAN; changed != (got >= 2*int64(len(content))) {
				t.Errorf("received %d bytes", got)
			}
		})
	}
}

// TestGatherAgain gathers again when one copy is complete and one is not. A complete copy is the user's: it is not compared, changed or
// replaced.
func TestGatherAgain(t *testing.T) {
	t.Parallel()
	const fails = "%h exists already: remove it or choose another path"
	content := randomBytes(4 << 20)
	for name, c := range map[string]struct {
		change         func(g *grid, a, b string) // paths of the copies
		a, b           string                     // the copies afterwards
		failsA, failsB string
	}{
		"copy edited": {
			change: func(g *grid, a, _ string) { g.write(a, "mine") },
			a:      "mine", b: string(content),
		},
		"PATH changed": {
			change: func(g *grid, _, _ string) { g.write(g.home("a", "log"), "new") },
			a:      "old", failsA: fails, b: string(content),
		},
		"copy removed": {
			change: func(g *grid, a, _ string) { must(g.t, os.Remove(a)) },
			a:      "old", b: string(content),
		},
		"copy removed, PATH changed": {
			change: func(g *grid, a, _ string) {
				must(g.t, os.Remove(a))
				g.write(g.home("a", "log"), "new")
			},
			a: "new", b: string(content),
		},
		"part removed, PATH changed": {
			change: func(g *grid, _, b string) {
				must(g.t, os.Remove(b))
				g.write(g.home("b", "log"), "new")
			},
			a: "old", b: "new",
		},
		"part replaced, PATH changed": {
			change: func(g *grid, _, b string) {
				g.write(b+".mine", "mine")
				must(g.t, os.Rename(b+".mine", b))
				g.write(g.home("b", "log"), "new")
			},
			a: "old", b: "mine", failsB: fails,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, out := newGrid(t, "a", "b"), t.TempDir()
			g.write(g.home("a", "log"), "old")
			g.write(g.home("b", "log"), string(content))
			cfg := g.config("log", "b")
			cfg.Output, cfg.Cluster = filepath.Join(out, "%h"), "here"
			g.gatherPart(cfg)
			cfg.Hosts = []Host{{"a", DefaultCluster}}
			if h := g.gather(cfg).Hosts[0]; h.Phase != Done {
				t.Fatal(h.Error)
			}
			c.change(g, filepath.Join(out, "a"), filepath.Join(out, "b"))
			cfg.Hosts = append(cfg.Hosts, Host{"b", DefaultCluster})
			for i, h := range g.gather(cfg).Hosts {
				if want := []string{c.failsA, c.failsB}[i]; want != "" {
					checkFailed(t, &h, filepath.Join(out, want))
				} else if h.Phase != Done || h.Bytes != h.Length {
					t.Errorf("%+v", h)
				}
				g.checkFile([]byte([]string{c.a, c.b}[i]), filepath.Join(out, h.Name))
			}
			if left, _ := filepath.Glob(filepath.Join(out, ".mob*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestGatherLostHost gathers again after a host could not be reached, and the copies of the other hosts are complete: these are done.
func TestGatherLostHost(t *testing.T) {
	t.Parallel()
	g, out := newGrid(t, "a", "b"), t.TempDir()
	g.write(g.home("a", "log"), "log of a")
	g.write(g.home("b", "log"), "log of b")
	away := filepath.Join(g.root, "away")
	must(t, os.Rename(filepath.Join(g.root, "b"), away))
	cfg := g.config("log", "a", "b")
	cfg.Output = filepath.Join(out, "%h")
	checkFailed(t, &g.gather(cfg).Hosts[1], "name or service not known")
	must(t, os.Rename(away, filepath.Join(g.root, "b")))
	for _, h := range g.gather(cfg).Hosts {
		if h.Phase != Done {
			t.Errorf("%+v", h)
		}
		g.checkFile([]byte("log of "+h.Name), filepath.Join(out, h.Name))
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".mob*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// gatherPart ends a gather when a part has arrived.
func (g *grid) gatherPart(cfg Config) {
	g.t.Helper()
	c, err := newCaster(cfg)
	must(g.t, err)
	c.node.SetLimits(limit.Limits{WANDown: 64 << 10})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.cfg.Event = func(e Event) {
		if e.Host != nil && e.Host.Bytes > 0 {
			cancel()
		}
	}
	_ = c.run(ctx) // the cause
	must(g.t, c.close())
}

// TestGatherNamesFile checks that a file in the way is named as the user named the copies.
func TestGatherNamesFile(t *testing.T) {
	t.Parallel()
	h := &host{caster: &caster{cfg: Config{Output: "out/%h/", Source: "x/logs"}}, output: "/here/out/a/logs"}
	got := h.explain(&store.ExistsError{Path: "/here/out/a/logs/notes", Inside: true}).Error()
	if got != "out/%h/logs/notes exists already: remove it or choose another path" {
		t.Error(got)
	}
}

// TestOutputs checks that each host has its own path.
func TestOutputs(t *testing.T) {
	t.Parallel()
	hosts := []Host{{"a", "lyon"}, {"b", "lyon"}, {"b.c", "lyon/rack"}}
	for output, want := range map[string]string{
		"out/%c/%h":    "",
		"%h/":          "",
		"out/%c":       `"out/%c" does not give each host its own path`,
		"out":          `"out" does not give each host its own path`,
		"%h/%x":        "has %x",
		"out/%h-%c/..": "does not give each host its own path",
	} {
		_, err := Outputs(Config{Source: "/var/log", Hosts: hosts, Output: output})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", output, err, want)
		}
	}
	if paths, err := Outputs(Config{Source: "/var/log", Output: "%h"}); len(paths) > 0 || err != nil {
		t.Error("no hosts: ", paths, err)
	}
	if _, err := Outputs(Config{Source: "/", Hosts: hosts, Output: "%h/"}); err == nil {
		t.Error("/ has a name")
	}
}

// TestGatherInvalidReports sends reports that are invalid in a gather.
func TestGatherInvalidReports(t *testing.T) {
	t.Parallel()
	for report, want := range map[string]string{
		`{"done":{}}`:                                "the host sent an invalid report",
		`{"served":{"content":"x"}}`:                 "the host sent an invalid Served report",
		`{"served":{"content":"%s","length":-1}}`:    "the host sent an invalid Served report",
		`{"served":{"content":"%s","length":70000}}`: "the content is already at ",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a", "bad")
			content := randomBytes(70_000)
			g.write(g.home("a", "log"), string(content))
			cfg := g.config("log", "a", "bad")
			out := t.TempDir()
			cfg.Output = filepath.Join(out, "%h")
			report := report
			if strings.Contains(report, "%s") { // the id of the other host
				report = fmt.Sprintf(report, servedBy(t, g.home("a", "log"), "a"))
			}
			says := `printf '\036{"hello":{"platform":"linux/amd64"}}\n'; read -r name; read -r start` + "\n"
			says += "while ! test -e " + filepath.Join(out, "a") + "; do sleep 0.1; done\n"
			says += "printf '\\036%s\\n' '" + report + "'\n"
			g.onLogin("bad", says+`while :; do printf '\036{"progress":{}}\n'; sleep 0.1; done`)
			r := g.gather(cfg)
			g.checkFile(content, filepath.Join(out, "a"))
			checkFailed(t, &r.Hosts[1], want)
		})
	}
}

// servedBy returns the id that a host has for a file.
func servedBy(t *testing.T, path, host string) string {
	t.Helper()
	m, err := store.Scan(t.Context(), path, store.ScanOptions{})
	must(t, err)
	m.Name = gatherName(host)
	b, err := m.Encode()
	must(t, err)
	return proto.ManifestCID(b).String()
}
