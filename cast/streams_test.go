package cast

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestStreamToFile casts a stream into files, which replace nothing without Force.
func TestStreamToFile(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b", "taken", "folder")
	content := randomBytes(5_000_000)
	must(t, os.WriteFile(g.home("taken", "out"), []byte("mine"), 0o600))
	must(t, os.Mkdir(g.home("folder", "out"), 0o755))
	cfg := g.config("-", "a", "b", "taken", "folder")
	cfg.Stdin, cfg.Dest = bytes.NewReader(content), "out"
	r, err := g.cast(cfg)
	must(t, err)
	for i, name := range []string{"a", "b"} {
		g.checkFile(content, g.home(name, "out"))
		if h := r.Hosts[i]; h.Phase != Done || h.Bytes != int64(len(content)) {
			t.Errorf("%+v", h)
		}
	}
	checkFailed(t, &r.Hosts[2], "out exists already: replace it with --force")
	checkFailed(t, &r.Hosts[3], "out is a directory: name the file")
	g.checkFile([]byte("mine"), g.home("taken", "out"))
	if r.Length != int64(len(content)) {
		t.Errorf("length %d", r.Length)
	}

	cfg = g.config("-", "taken")
	cfg.Stdin, cfg.Dest, cfg.Force = strings.NewReader("new"), "out", true
	g.mustCast(cfg)
	g.checkFile([]byte("new"), g.home("taken", "out"))
	for _, name := range []string{"a", "b", "taken"} {
		if entries, _ := os.ReadDir(g.home(name)); len(entries) != 1 {
			t.Errorf("%s has %v", name, entries)
		}
	}
}

// TestCommand casts a stream to commands: some of them fail, stop reading, or start late.
func TestCommand(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "good", "fails", "short", "deaf", "killed")
	content := randomBytes(4_000_000)
	var out outputs
	cfg := g.config("-", "good", "fails", "short", "deaf", "killed")
	cfg.Stdin, cfg.Event = bytes.NewReader(content), out.event
	cfg.Exec = `case $MOB_HOST in
		good) cat >out; echo "%h of $MOB_CLUSTER"; echo 100%%;;
		fails) head -c 1000 >part; echo first >&2; echo "it does not work" >&2; exit 3;;
		short) head -c 10 >ten;;
		deaf) exec <&-; echo; exit 0;;
		killed) kill -9 $$;;
	esac`
	r, err := g.cast(cfg)
	must(t, err)
	g.checkFile(content, g.home("good", "out"))
	g.checkFile(content[:10], g.home("short", "ten"))
	for _, i := range []int{0, 2, 3} {
		if h := r.Hosts[i]; h.Phase != Done || h.Exit == nil || *h.Exit != 0 {
			t.Errorf("%+v", h)
		}
	}
	checkFailed(t, &r.Hosts[1], "status 3: it does not work")
	checkFailed(t, &r.Hosts[4], "killed")
	if e := r.Hosts[1].Exit; e == nil || *e != 3 {
		t.Errorf("exit %v", e)
	}
	if e := r.Hosts[4].Exit; e == nil || *e != 128+9 {
		t.Errorf("exit %v", e)
	}
	if got, want := out.lines[0], []string{"good of default", "100%"}; !slices.Equal(got, want) {
		t.Errorf("output %q, want %q", got, want)
	}
}

// TestSlowCommand runs a command that continues when its host reports that it waits for it.
func TestSlowCommand(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	for file, want := range map[string]string{"read": "the command, which does not read", "end": "the command, which has its whole input"} {
		cfg := g.config("-", "a")
		cfg.Stdin = bytes.NewReader(randomBytes(2_000_000))
		cfg.Exec = "stop() { while [ ! -e $1 ]; do sleep 0.1; done; }; stop read; cat >/dev/null; stop end"
		if file == "end" {
			must(t, os.WriteFile(g.home("a", "read"), nil, 0o600))
		}
		said := false
		cfg.Event = func(e Event) {
			if e.Host != nil && e.Host.Waiting == want && !said {
				said = true
				for _, name := range []string{"read", "end"} {
					must(t, os.WriteFile(g.home("a", name), nil, 0o600))
				}
			}
		}
		g.mustCast(cfg)
		if !said {
			t.Errorf("no host waits for %s", want)
		}
		must(t, errors.Join(os.Remove(g.home("a", "read")), os.Remove(g.home("a", "end"))))
	}
}

// TestFileToCommand casts a file to a command, with its length known.
func TestFileToCommand(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	path, content := randomFile(t, "src", 2_000_000)
	cfg := g.config(path, "a", "b")
	cfg.Exec = "cat >out"
	r := g.mustCast(cfg)
	for _, h := range r.Hosts {
		g.checkFile(content, g.home(h.Name, "out"))
	}
	if r.Length != int64(len(content)) {
		t.Errorf("length %d", r.Length)
	}
}

// failingReader fails after some bytes, once it may.
type failingReader struct {
	r   io.Reader
	may <-chan struct{}
}

func (f failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		<-f.may
		err = errors.New("the tape is torn")
	}
	return n, err
}

// TestFailingSource checks a source that fails midway: no command may treat that as the end.
func TestFailingSource(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	for _, exec := range []string{"", `cat >part; echo end >complete`} {
		flow := make(chan struct{})
		var once sync.Once
		some := map[int]bool{}
		cfg := g.config("-", "a", "b")
		cfg.Stdin, cfg.Dest = failingReader{bytes.NewReader(randomBytes(3_000_000)), flow}, "out"
		if cfg.Exec = exec; exec != "" {
			cfg.Dest = ""
		}
		cfg.Event = func(e Event) {
			// The pipe takes bytes before the command runs.
			if e.Host != nil && e.Host.Bytes > 0 && (exec == "" || exists(g.home(e.Host.Name, "part"))) {
				if some[e.Index] = true; len(some) == 2 {
					once.Do(func() { close(flow) })
				}
			}
		}
		r, err := g.cast(cfg)
		if err == nil || !strings.Contains(err.Error(), "the tape is torn") {
			t.Errorf("error %v", err)
		}
		for i := range r.Hosts {
			name := r.Hosts[i].Name
			checkFailed(t, &r.Hosts[i], "the tape is torn")
			if exec == "" {
				g.checkEmpty(g.home(name))
			} else if !exists(g.home(name, "part")) || exists(g.home(name, "complete")) {
				t.Errorf("%s: the command saw the end of the stream", name)
			}
		}
	}
}

// TestTruncatedSource checks that a file that was truncated before it was read is not cast to commands as a shorter one.
func TestTruncatedSource(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	path, _ := randomFile(t, "src", 70_000)
	cfg := g.config(path, "a", "b")
	cfg.Exec = `cat; echo end >complete`
	c, err := newCaster(cfg)
	must(t, err)
	must(t, os.Truncate(path, 1000))
	const want = "src was changed while it was cast"
	if err := c.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	must(t, c.close())
	for i, name := range []string{"a", "b"} {
		checkFailed(t, &c.result().Hosts[i], want)
		if exists(g.home(name, "complete")) {
			t.Errorf("%s: the command saw the end of the stream", name)
		}
	}
	g.awaitClean()
	g.checkClean()
}
