package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOtherPlatform checks a host of another platform, with and without the file of the kernel.
func TestOtherPlatform(t *testing.T) {
	t.Parallel()
	for name, kernel := range map[string]string{"file": "ppc64le", "uname": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			says := "x86"
			if kernel == "" {
				says = "ppc64le"
			}
			s.fake("uname", `[ "$1" = -sm ] && echo Linux `+says)
			arch := filepath.Join(t.TempDir(), "arch")
			if err := os.WriteFile(arch, []byte(kernel), 0o644); err != nil {
				t.Fatal(err)
			}
			shell := s.shell("/bin/sh", "")
			if _, err := os.Stat("/proc/sys/kernel/arch"); err == nil {
				shell = s.mounts("mount --bind " + arch + " /proc/sys/kernel/arch")
			} else if kernel != "" {
				t.Skip("the kernel has no such file")
			}
			ps := absent(t)
			c := func() *Launcher { return New(Config{Shell: shell, Programs: ps}) }
			s.fails(c(), "n1", "no program for linux/ppc64le: put mob-agent-linux-ppc64le of the same build into "+ps.dir)

			other := *ps.all[0]
			other.platform, other.name, other.args = "linux/ppc64le", agentName, ""
			ps.all = append(ps.all, &other)
			s.ask(s.start(c(), "n1"), "one")
		})
	}
}
