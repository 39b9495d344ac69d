package cast

import (
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/sshd"
)

// BenchmarkStartup is the time from the command to the last of many hosts, for content of
// a kilobyte, from a machine of their cluster. The remote shell enters the namespaces, which costs less than ssh.
func BenchmarkStartup(b *testing.B) {
	for _, hosts := range []int{20, 100, 200} {
		for name, configure := range map[string]func(string, *sshd.Config){"nothing": nil, "there": there} {
			b.Run(fmt.Sprintf("%d-%s", hosts, name), func(b *testing.B) {
				s := newSite(b, 0, []int{1 + hosts}, configure)
				path := s.file("content", 1000)
				floor, floorCPU := s.login(b, 32)
				for i := 0; b.Loop(); i++ {
					before := cpu(b, s)
					start := time.Now()
					c := s.startBy(s.logins.Enter(), nil, path, "--cluster", "A", "-o", fmt.Sprint("copy", i))
					all := c.wait(0)
					ended := time.Since(start)
					used := c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime() + cpu(b, s) - before
					last := 0.0
					for _, r := range all {
						last = max(last, r.Seconds)
					}
					b.ReportMetric(last, "last-s")
					b.ReportMetric(ended.Seconds(), "ended-s")
					b.ReportMetric(used.Seconds(), "cpu-s")
				}
				b.ReportMetric(floor.Seconds(), "login-s")
				b.ReportMetric(floorCPU.Seconds(), "login-cpu-s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// login has all hosts do nothing, some at a time: a cast cannot start faster. It returns how long that took.
func (s *site) login(b *testing.B, window int) (took, used time.Duration) {
	b.Helper()
	args := []string{"-P", fmt.Sprint(window), "-I", "{}", s.logins.Enter(), "{}", "exec sh -c :"}
	cmd := exec.Command("xargs", args...)
	var names []string
	for _, h := range s.hosts {
		names = append(names, h.Name)
	}
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	before, start := cpu(b, s), time.Now()
	proc, err := s.grid.Node("A", 0).Start(cmd)
	if err == nil {
		err = proc.Wait()
	}
	if err != nil {
		b.Fatal(err)
	}
	took = time.Since(start)
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + cpu(b, s) - before
}

// cpu is the time that processes on hosts have used so far.
func cpu(b *testing.B, s *site) time.Duration {
	b.Helper()
	used, err := s.logins.Usage()
	if err != nil {
		b.Fatal(err)
	}
	return used.CPU
}

var large = flag.Bool("large", false, "run the test with 200 hosts, which takes minutes")

// TestManyHosts casts to 200 hosts of one cluster, by ssh. The caster needs at most 256 MB, and shows lines that fit a screen.
// With --tree the casts take at most a tenth longer: the processors limit both.
func TestManyHosts(t *testing.T) {
	if !*large {
		t.Skip("takes minutes: go test -run ManyHosts ./interop/cast -large")
	}
	s := newSite(t, lan/10, []int{201}, nil)
	path := s.file("content", 4e6)
	// The configuration of ssh has another path on the hosts.
	shell := fmt.Sprintf(`sh -c 'f=%s; [ -e $f ] || f=%s; exec ssh -F $f "$@"' ssh`, s.logins.ClientConfig(), sshd.ClientConfigOnHosts)
	var flat, tree time.Duration
	var copies []string
	for i, extra := range [][]string{nil, {"--tree"}, {"--tree"}, nil} {
		name := fmt.Sprint("copy", i)
		copies = append(copies, name)
		start := time.Now()
		c := s.startBy(shell, nil, append([]string{path, "-o", name}, extra...)...)
		c.wait(0)
		took, kib := time.Since(start), c.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%d hosts in %v, %d KiB of memory, flags %q", len(s.hosts), took, kib, extra)
		if extra == nil {
			flat += took
		} else {
			tree += took
		}
		if kib > 256<<10 {
			t.Error("want 256 MiB of memory at most")
		}
		for line := range strings.Lines(c.errs.String()) {
			if len(line) > 300 {
				t.Errorf("a line of %d bytes: %s", len(line), line)
			}
		}
		s.same(path, name, s.hosts...)
		s.cleanAfter(s.hosts, copies...)
	}
	if tree > flat*11/10 {
		t.Errorf("two casts take %v with --tree, and %v without", tree, flat)
	}
}
