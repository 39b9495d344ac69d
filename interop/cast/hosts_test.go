package cast

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/sshd"
)

// oddity is a host that differs from others.
type oddity struct {
	name string
	// make changes the host before it starts.
	make func(t *testing.T, c *sshd.Config)
	// bashrc is what the user has in that file.
	bashrc string
	// fails has a part of the error of the host; empty if it gets its copy.
	fails string
	// leaves are files besides the copy.
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
		{name: "no place for files but home", make: mounts("for d in /tmp /var/tmp /dev/shm; do mount -o remount,bind,ro $d; done")},
		{name: "full /tmp", make: mounts("mount -t tmpfs -o size=1m tmpfs /tmp")},
		{name: "banner", bashrc: "printf 'Welcome\\n\\036{\\\"a\\\":1}\\n'; seq 2000; echo 'Mind the gap.' >&2"},
		{name: "csh", make: shell("tcsh")},
		{name: "fish", make: shell("fish"), leaves: []string{".config", ".local"}}, // of its own
		{name: "dash", make: shell("dash")},
		{name: "slow login", bashrc: "sleep 3"},
		{name: "full disk", make: mounts("mount -t tmpfs -o size=2m tmpfs " + sshd.HomeOnHosts()), fails: "make room"},
		{name: "home is read-only", make: mounts("mount -o remount,bind,ro " + sshd.HomeOnHosts()), fails: "read-only"},
		{name: "wrong host key", make: func(t *testing.T, c *sshd.Config) {
			c.HostKey = filepath.Join(t.TempDir(), "key")
			if err := sshd.NewKey(c.HostKey); err != nil {
				t.Fatal(err)
			}
		}, fails: "ost key"},
		{name: "login refused", make: func(_ *testing.T, c *sshd.Config) { c.Server = []string{"DenyUsers root"} }, fails: "denied"},
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
			if left := list(t, h.Path(sshd.HomeOnHosts())); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestJumpHost casts through a host that takes ten logins at a time.
func TestJumpHost(t *testing.T) {
	s := newSite(t, lan, []int{2, 30}, func(name string, c *sshd.Config) {
		if name == "A1" {
			c.Server = []string{"MaxStartups 10"}
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
	t.Logf("the jump host refused %d logins", strings.Count(string(log), "past MaxStartups"))
}
