package cast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// waitTimeout bounds each wait of a test. It only ends hangs: a busy machine may take long.
const waitTimeout = 5 * time.Minute

// grid contains hosts, each a directory of this machine with a home and a directory for temporary files.
type grid struct {
	t     testing.TB
	root  string
	shell string
	tmp   string // of the caster
}

// rsh replaces ssh.
const rsh = `#!/bin/sh
root=$(dirname "$0"); host=$1
cd "$root/$host/home" 2>/dev/null || { echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255; }
echo "${MOB_TEST_HOST##*/}" >../via # the host that logs in here, if it is not the caster
export HOME="$PWD" TMPDIR="$root/$host/tmp" MOB_TEST_HOST="$root/$host"
unset XDG_CACHE_HOME XDG_RUNTIME_DIR
[ -f ../rc ] && . ../rc
# As with ssh, a signal to the shell here is none to what it runs there.
if command -v setsid >/dev/null; then exec setsid -w sh -c "$2"; fi
exec sh -c "$2"
`

func newGrid(t testing.TB, names ...string) *grid {
	t.Helper()
	g := &grid{t: t, root: t.TempDir()}
	g.shell, g.tmp = filepath.Join(g.root, "rsh"), filepath.Join(g.root, "caster tmp")
	g.write(g.shell, rsh)
	must(t, os.Mkdir(g.tmp, 0o700))
	for _, name := range names {
		must(t, os.MkdirAll(g.home(name), 0o755))
		must(t, os.MkdirAll(filepath.Join(g.root, name, "tmp"), 0o755))
	}
	return g
}

// home is the path of something in the home of a host.
func (g *grid) home(name string, elem ...string) string {
	return filepath.Join(append([]string{g.root, name, "home"}, elem...)...)
}

// onLogin adds shell commands that a host runs at a login.
func (g *grid) onLogin(name, commands string) { g.write(filepath.Join(g.root, name, "rc"), commands) }

func (g *grid) write(path, text string) {
	g.t.Helper()
	must(g.t, os.WriteFile(path, []byte(text), 0o644))
}

// config is a cast of source to hosts of one cluster.
func (g *grid) config(source string, names ...string) Config {
	cfg := Config{Source: source, Shell: []string{"sh", g.shell}, Spool: 1 << 30, Data: g.tmp}
	for _, name := range names {
		cfg.Hosts = append(cfg.Hosts, Host{Name: name, Cluster: DefaultCluster})
	}
	return cfg
}

// cast casts, and checks that nothing of it is left.
func (g *grid) cast(cfg Config) (*Result, error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	began := time.Now()
	r, err := (&testCast{Config: cfg}).run(ctx)
	g.checkLeft(r, began)
	return r, err
}

// checkLeft is checkClean after a cast or a gather, and the time before it. It waits for hosts that the cast did not wait longer for.
func (g *grid) checkLeft(r *Result, began time.Time) {
	g.t.Helper()
	if r != nil && time.Since(began)-r.Took >= endWait {
		g.awaitClean()
	}
	g.checkClean()
}

// mustCast casts to hosts of which all are to be done.
func (g *grid) mustCast(cfg Config) *Result {
	g.t.Helper()
	r, err := g.cast(cfg)
	must(g.t, err)
	for _, h := range r.Hosts {
		if h.Phase != Done {
			g.t.Fatalf("%s: %s: %s", h.Name, h.Phase, h.Error)
		}
	}
	return r
}

// checkClean checks that all directories for temporary files are empty.
func (g *grid) checkClean() {
	g.t.Helper()
	left, err := filepath.Glob(filepath.Join(g.root, "*", "tmp", "*"))
	must(g.t, err)
	here, err := filepath.Glob(filepath.Join(g.tmp, "*"))
	must(g.t, err)
	if left = append(left, here...); len(left) > 0 {
		g.t.Errorf("left behind: %q", left)
	}
}

// awaitClean waits until nothing is left. Agents on a busy machine may end after the cast.
func (g *grid) awaitClean() {
	await(g.t, "nothing left", func() bool {
		left, _ := filepath.Glob(filepath.Join(g.root, "*", "tmp", "*"))
		return len(left) == 0
	})
}

// await waits for a condition without an event.
func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within five minutes: %s", what)
		}
	}
}

// checkFile checks that a host has a file of these bytes.
func (g *grid) checkFile(want []byte, path string) {
	g.t.Helper()
	got, err := os.ReadFile(path)
	must(g.t, err)
	if !bytes.Equal(got, want) {
		g.t.Errorf("%s has %d bytes and not the %d of the source", path, len(got), len(want))
	}
}

// checkUsualMode checks that a directory has mode 0755, without the bits of the umask.
func (g *grid) checkUsualMode(dir string) {
	g.t.Helper()
	like := g.t.TempDir()
	must(g.t, os.Remove(like))
	must(g.t, os.Mkdir(like, 0o755))
	want, err := os.Stat(like)
	must(g.t, err)
	if got, err := os.Stat(dir); err != nil || got.Mode() != want.Mode() {
		g.t.Errorf("%s has the mode %v, want %v: %v", dir, got.Mode(), want.Mode(), err)
	}
}

// checkEmpty checks that a directory is empty.
func (g *grid) checkEmpty(dir string) {
	g.t.Helper()
	entries, err := os.ReadDir(dir)
	must(g.t, err)
	for _, e := range entries {
		g.t.Errorf("%s is left in %s", e.Name(), dir)
	}
}

// checkFailed checks that the host of a result failed, with some text.
func checkFailed(t testing.TB, r *HostResult, text string) {
	t.Helper()
	if r.Phase != Failed || !strings.Contains(r.Error, text) {
		t.Errorf("%s: %s: %q, want a failure with %q", r.Name, r.Phase, r.Error, text)
	}
}

// randomFile creates a file in a new directory, and returns its path and bytes.
func randomFile(t testing.TB, name string, size int) (path string, content []byte) {
	t.Helper()
	content = randomBytes(size)
	path = filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, content, 0o640))
	return path, content
}

// randomBytes are the same in each test.
func randomBytes(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b) // never fails
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outputs collects the output of commands from Events, by host.
type outputs struct {
	mu    sync.Mutex
	lines map[int][]string
}

func (o *outputs) event(e Event) {
	if e.Output == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines == nil {
		o.lines = map[int][]string{}
	}
	o.lines[e.Index] = append(o.lines[e.Index], *e.Output)
}

// exists reports whether something is at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// hostNames are n names of hosts.
func hostNames(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("n%d", i+1))
	}
	return all
}
