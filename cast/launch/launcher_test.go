package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestLaunch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.launcher(absent(t)), "n1")
	e := s.ask(p, "one")
	if filepath.Dir(e.Dir) != filepath.Join(s.dir, "n1/tmp") {
		t.Errorf("the directory is %s", e.Dir)
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

// TestInstalled checks that a host that has the program uses it, and that another program is not used.
func TestInstalled(t *testing.T) {
	t.Parallel()
	ps := present(t)
	program := ps.all[0]
	self, err := os.ReadFile(program.path)
	if err != nil {
		t.Fatal(err)
	}
	inPath := func(s *site, b []byte) {
		dir := t.TempDir()
		s.path = dir + ":" + s.path
		s.write(filepath.Join(dir, program.name), b)
	}
	for name, set := range map[string]func(s *site) (*Programs, bool){
		"caster's path": func(*site) (*Programs, bool) { return ps, true },
		"PATH": func(s *site) (*Programs, bool) {
			inPath(s, self)
			return absent(t), true
		},
		"cache": func(s *site) (*Programs, bool) {
			s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version()), self)
			return absent(t), true
		},
		"longer program in PATH": func(s *site) (*Programs, bool) {
			inPath(s, append(slices.Clip(self), "more"...))
			return absent(t), false
		},
		"changed program in PATH": func(s *site) (*Programs, bool) {
			b := slices.Clone(self)
			b[len(b)/2] ^= 1
			inPath(s, b)
			return absent(t), false
		},
		"another build in PATH": func(s *site) (*Programs, bool) {
			s.fake(program.name, "echo mob: this is old >&2; exit 1")
			return absent(t), false
		},
		"a directory in the cache": func(s *site) (*Programs, bool) {
			s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version(), "x"), nil)
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
				t.Errorf("it was uploaded: %v", !there)
			}
		})
	}
}

// TestProgramReplaced replaces a program in $PATH once its SHA-256 was computed: the copy that was checked runs.
func TestProgramReplaced(t *testing.T) {
	t.Parallel()
	ps := present(t)
	self, err := os.ReadFile(ps.all[0].path)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	path, ran := filepath.Join(t.TempDir(), ps.all[0].name), filepath.Join(t.TempDir(), "ran")
	s.write(path, self)
	s.fake("openssl", needs(t, "openssl")+` "$@"; printf "#!/bin/sh\necho >`+ran+`" >"`+path+`.new"; chmod 755 "`+path+`.new"; mv "`+path+`.new" "`+path+`"`)
	s.path = filepath.Dir(path) + ":" + s.path
	c := New(Config{Shell: s.counting(), Programs: absent(t)})
	s.ask(s.start(c, "n1"), "one")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the other program ran")
	}
	if b, err := os.ReadFile(path); err != nil || len(b) == len(self) || s.sent("n1") {
		t.Errorf("the program was not replaced, or not used: %v", err)
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
			t.Errorf("cast %d uploaded it: %v", i, !sent)
		}
	}
	if want := "home/.cache/mob/" + ps.all[0].name + "-" + ps.all[0].version(); len(s.files("n1")) != 1 || s.files("n1")[0] != want {
		t.Errorf("there is %q, want %s", s.files("n1"), want)
	}
}

// TestLogins checks the error of failed logins, and whether they are tried again. again is whether another is tried.
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
		"no sh":  {`echo "This account is currently not available."; exit 1;`, "the remote shell ended with status 1: This account is currently not available.", 1},
		"banner": {`printf "Welcome\n\nuse gw, not $1\n"; echo "Warning: slow" >&2; exit 0;`, "the remote shell ended with status 0: use gw, not %h", 1},
		"false":  {`exit 1;`, "the remote shell ended with status 1", 1},
		"both":   {`echo "Welcome"; echo "not on the list" >&2; exit 1;`, "sh: not on the list", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			logins := filepath.Join(t.TempDir(), "logins")
			c := New(Config{Shell: s.shell("/bin/sh", `echo >>"`+logins+`"; `+test.shell), Programs: absent(t)})
			c.times.pause, c.times.attempts = time.Millisecond, 4
			s.fails(c, "n1", test.want)
			if b, err := os.ReadFile(logins); err != nil || len(b) != test.logins {
				t.Errorf("%d logins, %v; want %d", len(b), err, test.logins)
			}
		})
	}
}

// TestInvalidMessages checks the errors for messages that the script does not send.
func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	ps := absent(t)
	need := `printf '\036{"need":"%s"}\n' "$(uname -sm)"; `
	for name, test := range map[string]struct{ says, want string }{
		"needs twice":   {need + need + "cat >/dev/null;", "second request of the program"},
		"never gets it": {need + `read -r name; read -r line; head -c 1000 >/dev/null; printf '\036{"failed":true}\n'; cat >/dev/null;`, "the program was corrupted in transit"},
		"failed first":  {`printf '\036{"failed":true}\n'; cat >/dev/null;`, "the host reports the failure of a program that was not sent"},
		"got first":     {`printf '\036{"got":true}\n'; cat >/dev/null;`, "the host reports a program that was not sent"},
		"got twice":     {need + `head -c 1000 >/dev/null; printf '\036{"got":true}\n\036{"got":true}\n'; cat >/dev/null;`, "the host reports a program that was not sent"},
		"escapes":       {`printf '\036{"need":"\\u001b[2J x"}\n'; cat >/dev/null;`, "no program for [2J/x: put mob-agent-[2J-x of the same build into " + ps.dir},
		"floods":        {`while :; do printf '\036{"else":1}\n'; done;`, "no answer for 2 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c := New(Config{Shell: s.shell("/bin/sh", test.says), Programs: ps})
			if name == "floods" {
				c.times.login = 2 * time.Second
			}
			s.fails(c, "n1", test.want)
			if d := c.depotOf(place{"A", ps.all[0].platform}); d.puts != 0 || len(d.waiting) != 0 {
				t.Errorf("the depot has %d puts and %d waiting", d.puts, len(d.waiting))
			}
		})
	}
}

// TestBusyJumpHost checks that logins succeed through a jump host that accepts two concurrent logins.
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
			p, err := c.Start(t.Context(), fmt.Sprint("n", i), "A", noNote)
			if err != nil {
				t.Errorf("n%d: %v", i, err)
				return
			}
			t.Cleanup(func() { s.finish(p) })
		})
	}
	wg.Wait()
}

// TestFirstOfCluster checks that a host waits a bounded time for the first host of its cluster, and not for other clusters.
func TestFirstOfCluster(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"waits": time.Hour, "continues": time.Millisecond} {
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
				p, err := c.Start(t.Context(), host, cluster, noNote)
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
