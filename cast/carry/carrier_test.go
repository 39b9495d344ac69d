package carry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestCarry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.carrier(absent(t)), "n1")
	e := s.ask(p, "one")
	if filepath.Dir(e.Dir) != filepath.Join(s.dir, "n1/tmp") {
		t.Errorf("the folder is %s", e.Dir)
	}
	if files := s.files("n1"); len(files) != 1 {
		t.Errorf("while it runs there is %q", files)
	}
	s.finish(p)
	if status, line := p.Wait(); status != 0 {
		t.Errorf("status %d: %s", status, line)
	}
	s.empty("n1")
}

// TestLoginShells has each shell be the login shell of a host.
func TestLoginShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "bsd-csh", "busybox sh", "dash", "fish", "mksh", "tcsh", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			needs(t, strings.Fields(shell)[0])
			s := newSite(t)
			c := New(Config{Shell: s.shell(shell, "echo Welcome; printf '\\036{]\\n';"), Programs: absent(t)})
			p := s.start(c, "n1")
			s.ask(p, "one")
			s.finish(p)
			s.empty("n1")
		})
	}
}

// TestScriptShells has each shell be the sh of a host.
func TestScriptShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "busybox", "dash", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			path := needs(t, shell)
			if shell == "busybox" {
				s.path = t.TempDir()
				if out, err := exec.Command(path, "--install", "-s", s.path).CombinedOutput(); err != nil {
					t.Skipf("%v: %s", err, out)
				}
			} else {
				s.path = t.TempDir() + ":" + s.path
				if err := os.Symlink(path, filepath.Join(strings.Split(s.path, ":")[0], "sh")); err != nil {
					t.Fatal(err)
				}
			}
			c := s.carrier(absent(t))
			first, second := s.start(c, "n1"), s.start(c, "n2")
			s.ask(first, "one")
			s.ask(second, "one")
			s.finish(first)
			s.finish(second)
			s.empty("n1")
			s.empty("n2")
		})
	}
}

// TestNeighbours has many hosts of two clusters start: into each the remote shell brings the archive once.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ps := absent(t)
	c := New(Config{Shell: s.counting(), Programs: ps})
	var wg sync.WaitGroup
	for i := range 8 {
		host, cluster := fmt.Sprint("n", i), fmt.Sprint("c", i%2)
		wg.Go(func() {
			p, err := c.Start(t.Context(), host, cluster)
			if err != nil {
				t.Errorf("%s: %v", host, err)
				return
			}
			t.Cleanup(func() { s.finish(p) })
		})
	}
	wg.Wait()
	sent := map[int]int{}
	for i := range 8 {
		if s.sent(fmt.Sprint("n", i)) {
			sent[i%2]++
		}
	}
	if sent[0] != 1 || sent[1] != 1 {
		t.Errorf("into the clusters the remote shell brought it %v times", sent)
	}
}

// TestDownloaders leaves a host one program to download with.
func TestDownloaders(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"curl", "wget", "bash", ""} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			tools := []string{"gzip", "sha256sum"}
			if by != "" {
				tools = append(tools, by)
			}
			s.tools(tools...)
			c := New(Config{Shell: s.counting(), Programs: absent(t)})
			s.start(c, "n1")
			s.start(c, "n2")
			if sent := s.sent("n2"); sent == (by != "") {
				t.Errorf("with %q the remote shell brought it: %v", by, sent)
			}
		})
	}
}

// TestHashers leaves a host one program to hash with.
func TestHashers(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"openssl", "sha256sum", "shasum", ""} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if by == "" {
				s.tools("gzip")
				s.refuses(s.carrier(absent(t)), "n1", "sha256sum, shasum and openssl are missing")
				return
			}
			s.tools("gzip", by, "perl") // in which shasum is written
			s.ask(s.start(s.carrier(absent(t)), "n1"), "one")
		})
	}
}

func TestNoGzip(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.tools("sha256sum")
	s.refuses(s.carrier(absent(t)), "n1", "gzip is missing")
}

// TestThere has the program be on the hosts: nothing is brought.
func TestThere(t *testing.T) {
	t.Parallel()
	ps, err := found()
	if err != nil {
		t.Fatal(err)
	}
	program := ps.all[0]
	self, err := os.ReadFile(program.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]func(s *site) (*Programs, bool){
		"caster's path": func(*site) (*Programs, bool) { return ps, true },
		"PATH": func(s *site) (*Programs, bool) {
			dir := t.TempDir()
			s.path = dir + ":" + s.path
			s.write(filepath.Join(dir, program.name), self)
			return absent(t), true
		},
		"cache": func(s *site) (*Programs, bool) {
			s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version), self)
			return absent(t), true
		},
		"another build in PATH": func(s *site) (*Programs, bool) {
			s.fake(program.name, "echo mob: this is old >&2; exit 1")
			return absent(t), false
		},
		"a folder in the cache": func(s *site) (*Programs, bool) {
			s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version, "x"), nil)
			return absent(t), false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			ps, there := set(s)
			c := New(Config{Shell: s.counting(), Programs: ps})
			s.ask(s.start(c, "n1"), "one")
			if s.sent("n1") == there {
				t.Errorf("it was brought: %v", !there)
			}
		})
	}
}

// TestKeep leaves the program for the next cast.
func TestKeep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ps := absent(t)
	c := New(Config{Shell: s.counting(), Programs: ps, Keep: true})
	for i, sent := range []bool{true, false} {
		p := s.start(c, "n1")
		s.finish(p)
		if s.sent("n1") != sent {
			t.Errorf("cast %d brought it: %v", i, !sent)
		}
	}
	if want := "home/.cache/mob/" + ps.all[0].name + "-" + ps.all[0].version; len(s.files("n1")) != 1 || s.files("n1")[0] != want {
		t.Errorf("there is %q, want %s", s.files("n1"), want)
	}
}

// TestThereServes has a host on which the program was serve it to one where it was not.
func TestThereServes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ps, err := found()
	if err != nil {
		t.Fatal(err)
	}
	program := ps.all[0]
	self, err := os.ReadFile(program.path)
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version), self)
	c := New(Config{Shell: s.counting(), Programs: absent(t)})
	s.start(c, "n1")
	s.ask(s.start(c, "n2"), "one")
	if s.sent("n1") || s.sent("n2") {
		t.Error("the remote shell brought it")
	}
}

// neighbour adds a server to the depot of a cluster.
func (s *site) neighbour(c *Carrier, handler http.HandlerFunc) {
	h := httptest.NewServer(handler)
	s.Cleanup(h.Close)
	hello := Hello{Path: "x", Addrs: []string{h.Listener.Addr().String()}}
	c.depotOf(place{"A", c.cfg.Programs.all[0].platform}).add(&server{Hello: hello})
}

// TestBadNeighbours has a server that is no good. Nothing that came from it is executed, and the remote shell
// brings the program.
func TestBadNeighbours(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"damaged": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "#!/bin/sh\necho this must not run\n")
		},
		"not there": http.NotFound,
		"dies": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(make([]byte, 300000))
			panic(http.ErrAbortHandler)
		},
	} {
		for _, by := range []string{"curl", "wget", "bash"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.tools("gzip", "sha256sum", by)
				c := New(Config{Shell: s.counting(), Programs: absent(t)})
				s.neighbour(c, handler)
				p := s.start(c, "n1")
				s.ask(p, "one")
				if b, err := os.ReadFile(filepath.Join(s.dir, "n1.sent")); err != nil || !bytes.HasPrefix(b, []byte("get ")) || !bytes.Contains(b, []byte("\nput ")) {
					t.Errorf("it was sent %.80q, %v", b, err)
				}
				s.finish(p)
				s.empty("n1")
			})
		}
	}
}

// TestSilentNeighbour has a server from which nothing comes, and no downloader that notices.
func TestSilentNeighbour(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	s := newSite(t)
	s.tools("gzip", "sha256sum", "bash")
	c := New(Config{Shell: s.counting(), Programs: absent(t)})
	c.times.bring = 5 * time.Second
	s.neighbour(c, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := s.start(c, "n1")
	if s.ask(p, "one"); !s.sent("n1") {
		t.Error("it was not brought by the remote shell")
	}
	s.finish(p)
	s.empty("n1")
}

func TestNoHome(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Shell: s.shell("env -u HOME /bin/sh", ""), Programs: absent(t), Keep: true})
	p := s.start(c, "n1")
	s.ask(p, "one")
	s.finish(p)
	s.empty("n1")
}

// TestLogins has logins that fail. again is whether another is tried.
func TestLogins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shell, want string
		logins      int
	}{
		"denied": {`echo "me@$1: Permission denied (publickey)." >&2; exit 255;`, "sh: permission denied (publickey)", 1},
		"busy": {
			`echo "kex_exchange_identification: read: Connection reset by peer" >&2; echo "Connection reset by 10.0.0.1 port 22" >&2; exit 255;`,
			"sh: connection reset", 4,
		},
		"silent": {`exit 0;`, "the remote shell ended with status 0", 1},
		"noise":  {`head -c 3000000 /dev/zero; echo "Connection to $1 closed." >&2; exit 3;`, "the remote shell ended with status 3", 1},
		"no sh":  {`echo "This account is currently not available."; exit 1;`, "the remote shell ended with status 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			logins := filepath.Join(t.TempDir(), "logins")
			c := New(Config{Shell: s.shell("/bin/sh", `echo >>"`+logins+`"; `+test.shell), Programs: absent(t)})
			c.times.pause, c.times.attempts = time.Millisecond, 4
			s.refuses(c, "n1", test.want)
			if b, err := os.ReadFile(logins); err != nil || len(b) != test.logins {
				t.Errorf("%d logins, %v; want %d", len(b), err, test.logins)
			}
		})
	}
}

// TestLyingHosts has hosts that say what the script never would.
func TestLyingHosts(t *testing.T) {
	t.Parallel()
	ps := absent(t)
	need := `printf '\036{"need":"%s"}\n' "$(uname -sm)"; `
	for name, test := range map[string]struct{ says, want string }{
		"needs twice":   {need + need + "cat >/dev/null;", "the host needs the program twice"},
		"never gets it": {need + `read -r line; head -c 1000 >/dev/null; printf '\036{"failed":true}\n'; cat >/dev/null;`, "the program was damaged on its way"},
		"failed first":  {`printf '\036{"failed":true}\n'; cat >/dev/null;`, "the host failed to get what it was not sent"},
		"escapes":       {`printf '\036{"need":"\\u001b[2J x"}\n'; cat >/dev/null;`, "no program for [2J/x: put mob-agent-[2J-x of the same build into " + ps.folder},
		"floods":        {`while :; do printf '\036{"else":1}\n'; done;`, "no answer for 2 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c := New(Config{Shell: s.shell("/bin/sh", test.says), Programs: ps})
			if name == "floods" {
				c.times.login = 2 * time.Second
			}
			s.refuses(c, "n1", test.want)
			if d := c.depotOf(place{"A", ps.all[0].platform}); d.puts != 0 || len(d.waiting) != 0 {
				t.Errorf("the depot has %d puts and %d waiting", d.puts, len(d.waiting))
			}
		})
	}
}

// TestBusyJumpHost has a jump host that takes two logins at a time.
func TestBusyJumpHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := t.TempDir()
	c := New(Config{Programs: absent(t), Shell: s.shell("/bin/sh", `
		if mkdir "`+dir+`/1" 2>/dev/null; then j="`+dir+`/1"; elif mkdir "`+dir+`/2" 2>/dev/null; then j="`+dir+`/2"; else
			echo "kex_exchange_identification: Connection closed by remote host" >&2; exit 255
		fi
		sleep 0.1; rmdir "$j";`)})
	c.times.pause, c.times.attempts = 20*time.Millisecond, 30
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			p, err := c.Start(t.Context(), fmt.Sprint("n", i), "A")
			if err != nil {
				t.Errorf("n%d: %v", i, err)
				return
			}
			t.Cleanup(func() { s.finish(p) })
		})
	}
	wg.Wait()
}

// TestFirstOfCluster has the first host of a cluster hang in its login. The other waits for it, but not for
// long; that of another cluster does not.
func TestFirstOfCluster(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"waits": time.Hour, "goes on": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := t.TempDir()
			logins, gate := filepath.Join(dir, "logins"), filepath.Join(dir, "gate")
			if err := syscall.Mkfifo(gate, 0o600); err != nil {
				t.Fatal(err)
			}
			begin := `echo "$1" >>"` + logins + `"; if [ "$1" = n1 ]; then cat "` + gate + `"; fi; `
			c := New(Config{Shell: s.shell("/bin/sh", begin), Programs: absent(t)})
			c.times.ahead = ahead
			var all sync.WaitGroup
			start := func(host, cluster string) {
				p, err := c.Start(t.Context(), host, cluster)
				if err != nil {
					t.Errorf("%s: %v", host, err)
					return
				}
				s.finish(p)
			}
			all.Go(func() { start("n1", "A") })
			open, err := os.OpenFile(gate, os.O_WRONLY, 0) // when n1 logs in
			if err != nil {
				t.Fatal(err)
			}
			want := "n1 n3 n2"
			if ahead < time.Hour {
				start("n2", "A")
				want = "n1 n2 n3"
			} else {
				all.Go(func() { start("n2", "A") })
			}
			start("n3", "B")
			if err := open.Close(); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			b, err := os.ReadFile(logins)
			if got := strings.Join(strings.Fields(string(b)), " "); err != nil || got != want {
				t.Errorf("logins of %s, want %s: %v", got, want, err)
			}
		})
	}
}

// TestHangingLogin has a login in which nothing happens. It is ended with all that it started.
func TestHangingLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pid := filepath.Join(t.TempDir(), "pid")
	c := New(Config{Shell: s.shell("/bin/sh", `sleep 1000 & echo $! >"`+pid+`"; wait;`), Programs: absent(t)})
	c.times.login = time.Second
	s.refuses(c, "n1", "no answer for 1 s")
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Skip("the shell did not come so far: ", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	s.gone(n)
}

// gone waits until a process has ended.
func (s *site) gone(pid int) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
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

func TestNoShell(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Shell: []string{"no-such-shell"}, Programs: absent(t)})
	s.refuses(c, "n1", `cannot run no-such-shell: exec: "no-such-shell": executable file not found in $PATH`)
	s.refuses(c, "-oProxyCommand=reboot", `"-oProxyCommand=reboot" is no host`)
}

func TestAgentKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.carrier(absent(t)), "n1")
	if err := syscall.Kill(s.ask(p, "one").Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.ends(p, 137, "killed (signal 9)")
}

func TestAgentFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.carrier(absent(t)), "n1")
	if err := p.Send("exit 7"); err != nil {
		t.Fatal(err)
	}
	s.ends(p, 7, "told to exit")
}

// TestShellKilled kills the remote shell: the agent notices that nobody is there.
func TestShellKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Programs: absent(t), Shell: []string{"sh", "-c", `(` + s.login("/bin/sh", "") + `); exit $?`, "rsh"}})
	p := s.start(c, "n1")
	agent := s.ask(p, "one").Pid
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	s.gone(agent)
	s.empty("n1")
}

// TestCanceled cancels the start in each of its stages.
func TestCanceled(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"login", "turn", "download", "put"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c := s.carrier(absent(t))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := make(chan struct{}, 1)
			d := c.depotOf(place{"A", c.cfg.Programs.all[0].platform})
			switch stage {
			case "login":
				c.cfg.Shell = s.shell("/bin/sh", "sleep 1000;")
				c.cfg.Note = func(string, string) { begun <- struct{}{} }
			case "turn":
				d.puts = 1
				c.cfg.Note = func(_, phase string) {
					if phase == "program" {
						begun <- struct{}{}
					}
				}
			case "download":
				s.neighbour(c, func(_ http.ResponseWriter, r *http.Request) {
					begun <- struct{}{}
					<-r.Context().Done()
				})
			case "put":
				fifo := filepath.Join(t.TempDir(), "begun")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				s.fake("head", "echo >"+fifo+"; sleep 1000")
				c.cfg.Shell = s.shell("/bin/sh", "")
				go func() {
					_, _ = os.ReadFile(fifo)
					begun <- struct{}{}
				}()
			}
			go func() {
				<-begun
				cancel()
			}()
			if p, err := c.Start(ctx, "n1", "A"); !errors.Is(err, context.Canceled) {
				t.Errorf("process %v, error %v", p != nil, err)
			}
			s.empty("n1")
		})
	}
}
