package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoginShells runs each shell as the login shell of a host.
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

// TestScriptShells runs each shell as the sh of a host.
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
			c := s.launcher(absent(t))
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
				t.Errorf("with %q the remote shell uploaded it: %v", by, sent)
			}
		})
	}
}

// TestHashers leaves a host one program to hash with, or none: then it runs nothing that it has, and downloads nothing.
func TestHashers(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"openssl", "sha256sum", "shasum", ""} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			tools := []string{"gzip", "curl"}
			if by != "" {
				tools = append(tools, by, "perl") // in which shasum is written
			}
			s.tools(tools...)
			for _, ps := range []*Programs{absent(t), present(t)} {
				c := New(Config{Shell: s.counting(), Programs: ps})
				for i, host := range []string{"n1", "n2"} {
					p := s.start(c, host)
					s.ask(p, "one")
					if i > 0 {
						s.finish(p)
					}
					sent := by == "" || ps.all[0].path == "" && i == 0
					if s.sent(host) != sent {
						t.Errorf("with the program at %q the remote shell delivered it to %s: %v", ps.all[0].path, host, !sent)
					}
				}
			}
		})
	}
}

func TestNoGzip(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.tools("sha256sum")
	s.fails(s.launcher(absent(t)), "n1", "gzip is missing")
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

func TestNoShell(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Shell: Shell{"no-such-shell"}, Programs: absent(t)})
	s.fails(c, "n1", `run no-such-shell: exec: "no-such-shell": executable file not found in $PATH`)
	s.fails(c, "-oProxyCommand=reboot", `invalid host "-oProxyCommand=reboot"`)
}
