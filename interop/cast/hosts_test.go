package cast

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/sshd"
)

// oddity is a host that differs from other nodes.
type oddity struct {
	name string
	// make changes the host before it starts.
	make func(t *testing.T, c *sshd.Config)
	// bashrc is the text of that file.
	bashrc string
	// fails has a part of the error of the host; empty if it gets its copy.
	fails string
	// leaves are files in addition to the copy.
	leaves []string
}

func oddities() []oddity {
	shell := func(name string) func(t *testing.T, c *sshd.Config) {
		return func(t *testing.T, c *sshd.Config) {
			if path, err := exec.LookPath(name); err == nil {
				c.LoginShell = path
			} else {
				t.Logf("%s is not installed: %s has the usual shell", name, c.Name)
			}
		}
	}
	mounts := func(script string) func(t *testing.T, c *sshd.Config) {
		return func(_ *testing.T, c *sshd.Config) { c.Mounts = script }
	}
	return []oddity{
		{name: "nothing"},
		{name: "noexec /tmp", make: mounts("mount -o remount,bind,noexec /tmp")},
		{name: "only home is writable", make: mounts("for d in /tmp /var/tmp /dev/shm; do mount -o remount,bind,ro $d; done")},
		{name: "full /tmp", make: mounts("mount -t tmpfs -o size=1m tmpfs /tmp")},
		{name: "banner", bashrc: "printf 'Welcome\\n\\036{\\\"a\\\":1}\\n'; seq 2000; echo 'Mind the gap.' >&2"},
		{name: "csh", make: shell("tcsh")},
		{name: "fish", make: shell("fish"), leaves: []string{".config", ".local"}}, // created by fish
		{name: "dash", make: shell("dash")},
		{name: "slow login", bashrc: "sleep 3"},
		{name: "full disk", make: mounts("mount -t tmpfs -o size=2m tmpfs " + sshd.HomeOnHosts()), fails: "free disk space"},
		{name: "home is read-only", make: mounts("mount -o remount,bind,ro " + sshd.HomeOnHosts()), fails: "read-only"},
		{name: "wrong host key", make: func(t *testing.T, c *sshd.Config) {
			c.HostKey = filepath.Join(t.TempDir(), "key")
			if err := sshd.NewKey(c.HostKey); err != nil {
				t.Fatal(err)
			}
		}, fails: "ost key"},
		{name: "another architecture", make: func(t *testing.T, c *sshd.Config) {
			c.Mounts = "f=/proc/sys/kernel/arch; if [ -e $f ]; then echo ppc64le >/run/arch; mount --bind /run/arch $f; fi"
			c.Programs = t.TempDir()
			const uname = "#!/bin/sh\n[ \"$1\" = -sm ] && echo Linux ppc64le\n"
			if err := os.WriteFile(filepath.Join(c.Programs, "uname"), []byte(uname), 0o755); err != nil {
				t.Fatal(err)
			}
		}, fails: "put mob-agent-linux-ppc64le of the same build into"},
		{name: "little memory", bashrc: "ulimit -v 100000", fails: "crashed: fatal error: "},
	}
}

// TestOddHosts casts to hosts each of which differs from the usual one in some way.
func TestOddHosts(t *testing.T) {
	all := oddities()
	byName := map[string]oddity{}
	for i, o := range all {
		byName[fmt.Sprint("A", i+1)] = o
	}
	s := newSite(t, lan, []int{1 + len(all)}, func(name string, c *sshd.Config) {
		if o := byName[name]; o.make != nil {
			o.make(t, c)
		}
	})
	for _, h := range s.hosts {
		if text := byName[h.Name].bashrc; text != "" {
			if err := os.WriteFile(h.Path(sshd.HomeOnHosts()+"/.bashrc"), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := s.file("content", 6e6)
	results := s.start(nil, path).wait(1)
	for _, h := range s.hosts {
		o, r := byName[h.Name], results[h.Name]
		t.Run(o.name, func(t *testing.T) {
			if o.fails == "" {
				s.same(path, "content", h)
				if r.Phase != "done" {
					t.Errorf("reported as %+v", r)
				}
				s.cleanAfter([]*sshd.Host{h}, append(o.leaves, "content")...)
				return
			}
			if r.Phase != "failed" || !strings.Contains(strings.ToLower(r.Error), strings.ToLower(o.fails)) {
				t.Errorf("reported as %+v, want an error with %q", r, o.fails)
			}
			s.cleanAfter([]*sshd.Host{h})
			for _, name := range list(t, h.Path(sshd.HomeOnHosts())) {
				if name != ".bashrc" {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

// TestUnreachable casts to hosts of which none can be logged in to. Two of each kind fail with the same words, which
// name neither the host nor its address.
func TestUnreachable(t *testing.T) {
	type kind struct {
		name, want string
		make       func(t *testing.T, c *sshd.Config)
		dies       bool
		alias      string // lines for the client, of a host that is not there
	}
	kinds := []kind{
		{name: "refused", dies: true, want: "connection refused"},
		{name: "denied", make: func(_ *testing.T, c *sshd.Config) {
			c.Server = []string{"DenyUsers root", "Banner /etc/os-release"}
		}, want: "permission denied"},
		{name: "other key", make: func(t *testing.T, c *sshd.Config) {
			c.HostKey = filepath.Join(t.TempDir(), "key")
			if err := sshd.NewKey(c.HostKey); err != nil {
				t.Fatal(err)
			}
		}, want: "host key verification failed"},
		{name: "behind a host that is down", make: func(_ *testing.T, c *sshd.Config) {
			c.Client = []string{"ProxyJump A1"} // the first that is rejected
		}, want: "connection refused"},
		{name: "unknown name", alias: "HostName nowhere.invalid", want: "name"},
		{name: "no host there", alias: "HostName 10.254.254.254", want: ""}, // by the routes of the grid, and by the time of each
		{name: "behind a host that denies", alias: "HostName 10.254.254.254\nProxyJump A3", want: "permission denied"},
	}
	kindOf := func(name string) int {
		n, err := strconv.Atoi(name[1:])
		if err != nil {
			t.Fatal(err)
		}
		return (n - 1) / 2
	}
	there := slices.IndexFunc(kinds, func(k kind) bool { return k.alias != "" })
	s := newSite(t, lan, []int{1 + 2*there}, func(name string, c *sshd.Config) {
		if k := kinds[kindOf(name)]; k.make != nil {
			k.make(t, c)
		}
	})
	for _, h := range s.hosts {
		if kinds[kindOf(h.Name)].dies {
			if err := h.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var aliases []string
	config, err := os.OpenFile(s.logins.ClientConfig(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * there; i < 2*len(kinds); i++ {
		name := fmt.Sprint("X", i+1)
		aliases = append(aliases, name)
		fmt.Fprintf(config, "Host %s\n%s\n", name, kinds[i/2].alias)
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	said := map[int]string{}
	for name, r := range s.start(nil, s.file("content", 1000), "--hosts", strings.Join(aliases, ",")).wait(1) {
		i := kindOf(name)
		if before, ok := said[i]; ok && before != r.Error && kinds[i].want != "" {
			t.Errorf("%s: %q and %q", kinds[i].name, before, r.Error)
		}
		said[i] = r.Error
		if r.Phase != "failed" || !strings.HasPrefix(r.Error, "ssh: ") || !strings.Contains(r.Error, kinds[i].want) {
			t.Errorf("%s: %+v", kinds[i].name, r)
		}
	}
}

// TestNoHome casts to a host on which the user's home directory is not there.
func TestNoHome(t *testing.T) {
	s := newSite(t, lan, []int{3}, func(name string, c *sshd.Config) {
		if name == "A1" {
			c.Mounts = `sed 's,^\(root:.*:\)[^:]*\(:[^:]*\)$,\1/nowhere\2,' /etc/passwd >/run/table && cat /run/table >/etc/passwd`
		}
	})
	path := s.file("content", 1e6)
	s.start(nil, path, "-o", "/var/tmp/here/").wait(0)
	for _, h := range s.hosts {
		s.same(path, "../var-tmp/here/content", h)
		if err := os.RemoveAll(filepath.Join(h.Home(), "../var-tmp/here")); err != nil {
			t.Fatal(err)
		}
	}
	s.cleanAfter(s.hosts)
}

// TestUnknownKeys casts with a client that does not know the keys of the hosts.
func TestUnknownKeys(t *testing.T) {
	s := newSite(t, lan, []int{3}, nil)
	shell := "ssh -o UserKnownHostsFile=/dev/null -F " + s.logins.ClientConfig()
	for name, r := range s.startBy(shell, nil, s.file("content", 1000)).wait(1) {
		if r.Phase != "failed" || r.Error != "ssh: host key verification failed" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s.cleanAfter(s.hosts)
}

// TestJumpHost casts through a host that accepts five concurrent logins.
func TestJumpHost(t *testing.T) {
	s := newSite(t, lan, []int{2, 9}, func(name string, c *sshd.Config) {
		if name == "A1" {
			c.Server = []string{"MaxStartups 5"}
		} else {
			c.Client = []string{"ProxyJump A1"}
		}
	})
	path := s.file("content", 2e6)
	s.start(nil, path).wait(0)
	s.same(path, "content", s.hosts...)
	s.cleanAfter(s.hosts, "content")
	log, err := os.ReadFile(s.host("A1").Log())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the jump host rejected %d logins", strings.Count(string(log), "past MaxStartups"))
}
