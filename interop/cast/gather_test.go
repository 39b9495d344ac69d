package cast

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// gatherRate is the rate of the NIC of the machine that gathers.
const gatherRate = 12 * netns.MBps

// newGatherSite is a site of four clusters of this size whose hosts have the program. Each host has other content.
func newGatherSite(t *testing.T, nodes, size int) (_ *site, paths map[string]string) {
	t.Helper()
	c := netns.Config{Clusters: netns.Clusters(nodes, nodes, nodes, nodes), RTT: 40 * time.Millisecond}
	c.Links = netns.Uniform(2*gatherRate, "A", "B", "C", "D")
	c.Clusters[0].SlowNIC = map[int]netns.Rate{0: gatherRate}
	s := newSiteOn(t, c, there)
	paths = map[string]string{}
	for _, h := range s.hosts {
		path := s.file("source/"+h.Name, size)
		if err := os.Rename(path, filepath.Join(h.Home(), "out")); err != nil {
			t.Fatal(err)
		}
		paths[h.Name] = filepath.Join(s.dir, "DIR", h.Node.Cluster, h.Name)
	}
	return s, paths
}

// gather runs mob gather.
func (s *site) gather(args ...string) *casting {
	s.t.Helper()
	return s.run("gather", "ssh -F "+s.logins.ClientConfig(), nil, append(args, "out", "-o", "DIR/%c/%h")...)
}

// sameGathered checks the copies of some hosts.
func (s *site) sameGathered(paths map[string]string, hosts ...*sshd.Host) {
	s.t.Helper()
	for _, h := range hosts {
		s.same(paths[h.Name], "out", h)
	}
}

// TestGather gathers a file of each host, with -large 15 files of 20 MB, to a machine whose NIC has 12 MB/s.
func TestGather(t *testing.T) {
	nodes, size := 2, 5_000_000
	if *large {
		nodes, size = 4, 20_000_000
	}
	s, paths := newGatherSite(t, nodes, size)
	c := s.gather()
	all := c.wait(0)
	last := s.lastDone(all, "", "")
	s.sameGathered(paths, s.hosts...)
	s.cleanAfter(s.hosts, "out")
	var received int64
	for _, r := range all {
		received += r.WAN + r.LAN
	}
	bound := float64(len(all)*size) / float64(gatherRate)
	t.Logf("%s", &c.errs)
	t.Logf("%.2f s, %.3f of the NIC; %.3f copies", last, bound/last, float64(received)/float64(len(all)*size))
	if received > int64(len(all)*size) {
		t.Errorf("received %d bytes", received)
	}
	if *large && bound/last < 0.9 { // includes the logins of 15 hosts on the processors of one machine
		t.Errorf("%.3f of the NIC, want 0.9", bound/last)
	}
}

// TestGatherHostKilled kills a host with everything on it midway. The other files arrive.
func TestGatherHostKilled(t *testing.T) {
	s, paths := newGatherSite(t, 2, 5_000_000)
	const victim = "B1"
	rate := func(r netns.Rate) {
		if err := s.grid.SetRate("A", "B", r); err != nil {
			t.Fatal(err)
		}
	}
	rate(gatherRate / 60) // with this rate its copy takes more than 25 s
	c := s.gather("--bad", "bad")
	await(t, "a part", func() bool {
		var st syscall.Stat_t
		return syscall.Stat(paths[victim], &st) == nil && st.Blocks > 0
	})
	if err := s.host(victim).Kill(); err != nil {
		t.Fatal(err)
	}
	rate(2 * gatherRate)
	all := c.wait(1)
	if r := all[victim]; r.Phase != "failed" || r.Error == "" {
		t.Errorf("%s, which was killed: %+v", victim, r)
	}
	s.sameGathered(paths, s.without(victim)...)
	s.cleanAfter(s.without(victim), "out")
	if b, err := os.ReadFile(filepath.Join(s.dir, "bad")); err != nil || string(b) != fmt.Sprintln(victim, "B") {
		t.Errorf("%q, %v", b, err)
	}
}
