package cast

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/sshd"
)

// lan is a rate at which the transfers of tests take a moment.
const lan = 50 * netns.MBps

// TestFile casts a file to two clusters that have no program. Content and program enter the
// other cluster once.
func TestFile(t *testing.T) {
	s := newSite(t, lan, []int{3, 4}, nil)
	const size = 20e6
	path := s.file("content", size)
	before, err := s.grid.WANBytes("B")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range s.start(nil, path).wait(0) {
		if r.Phase != "done" || r.Bytes != size || r.WAN+r.LAN < size {
			t.Errorf("%s: %+v", name, r)
		}
	}
	after, err := s.grid.WANBytes("B")
	if err != nil {
		t.Fatal(err)
	}
	s.same(path, "content", s.hosts...)
	s.cleanAfter(s.hosts, "content")
	info, err := os.Stat(filepath.Join(programs, "mob-agent"))
	if err != nil {
		t.Fatal(err)
	}
	program := float64(after-before) - 1.1*size
	t.Logf("in addition to the content %.1f MB entered B; the program has %.1f MB", program/1e6, float64(info.Size())/1e6)
	if program > 0.6*float64(info.Size()) {
		t.Error("that is more than one compressed copy")
	}
}

// TestOwnCluster casts from within one of two clusters: its hosts get nothing from the other, which gets each
// byte once.
func TestOwnCluster(t *testing.T) {
	s := newSite(t, lan, []int{3, 2}, there)
	const size = 20e6
	path := s.file("content", size)
	before, err := s.grid.WANBytes("A")
	if err != nil {
		t.Fatal(err)
	}
	var wan int64 // into B, by whichever of its hosts
	for name, r := range s.start(nil, path, "--cluster", "A").wait(0) {
		switch {
		case r.Cluster == "B":
			wan += r.WAN
		case r.WAN > 0:
			t.Errorf("%s, a neighbor of the source: %+v", name, r)
		}
	}
	if wan < size || wan > size*11/10 {
		t.Errorf("B got %.1f MB from A, want %.1f MB", float64(wan)/1e6, size/1e6)
	}
	after, err := s.grid.WANBytes("A")
	if err != nil {
		t.Fatal(err)
	}
	if into := after - before; into > size/5 {
		t.Errorf("%.1f MB entered A, the cluster of the source", float64(into)/1e6)
	}
	s.same(path, "content", s.hosts...)
}

// TestThere casts to hosts that have the program on their path.
func TestThere(t *testing.T) {
	s := newSite(t, lan, []int{1, 3}, there)
	const size = 1e6
	path := s.file("content", size)
	before, err := s.grid.WANBytes("B")
	if err != nil {
		t.Fatal(err)
	}
	s.start(nil, path, "-o", "there/").wait(0)
	after, err := s.grid.WANBytes("B")
	if err != nil {
		t.Fatal(err)
	}
	s.same(path, "there/content", s.hosts...)
	s.cleanAfter(s.hosts, "there")
	// So short content may come to each host from the source. A compressed program has several MB.
	if entered := after - before; entered > uint64(len(s.hosts)+1)*size {
		t.Errorf("%.1f MB entered B: was the program among it?", float64(entered)/1e6)
	}
}

// TestOtherShell casts by another program than ssh, which enters the namespaces of the hosts.
func TestOtherShell(t *testing.T) {
	s := newSite(t, lan, []int{2, 3}, nil)
	path := s.file("content", 3e6)
	s.startBy(s.logins.Enter(), nil, path, "-o", "of %h").wait(0)
	for _, h := range s.hosts {
		s.same(path, "of "+h.Name, h)
		s.cleanAfter([]*sshd.Host{h}, "of "+h.Name)
	}
}

// TestDirectory casts a directory, twice: the second time it is rejected, and with --force taken
// over.
func TestDirectory(t *testing.T) {
	s := newSite(t, lan, []int{3}, there)
	var paths []string
	for _, name := range []string{"tree/a", "tree/b/c", "tree/b/d e", "tree/empty"} {
		size := 300e3
		if name == "tree/empty" {
			size = 0
		}
		paths = append(paths, s.file(name, int(size)))
	}
	check := func() {
		t.Helper()
		for _, p := range paths {
			name, err := filepath.Rel(s.dir, p)
			if err != nil {
				t.Fatal(err)
			}
			s.same(p, name, s.hosts...)
		}
	}
	s.start(nil, "tree").wait(0)
	check()
	for name, r := range s.start(nil, "tree").wait(1) {
		if r.Phase != "failed" || !strings.Contains(r.Error, "--force") {
			t.Errorf("%s, where the directory exists: %+v", name, r)
		}
	}
	check()
	if err := os.WriteFile(filepath.Join(s.hosts[0].Home(), "tree/a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(nil, "tree", "--force").wait(0)
	check()
	s.cleanAfter(s.hosts, "tree")
}

// TestStreamIntoTar casts what tar writes into tar.
func TestStreamIntoTar(t *testing.T) {
	s := newSite(t, lan, []int{2, 3}, there)
	path := s.file("tree/content", 8e6)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tar := exec.Command("tar", "-C", s.dir, "-c", "tree")
	tar.Stdout = w
	if err := tar.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s.start(r, "-", "--exec", "tar x").wait(0)
	if err := tar.Wait(); err != nil {
		t.Error(err)
	}
	s.same(path, "tree/content", s.hosts...)
	s.cleanAfter(s.hosts, "tree")
}

// TestFailingCommand casts into a command that fails on one host: its status and last line
// are reported, and all other nodes get everything.
func TestFailingCommand(t *testing.T) {
	s := newSite(t, lan, []int{2, 3}, there)
	path := s.file("content", 8e6)
	const command = `if [ "$MOB_HOST" = B1 ]; then head -c 1000 >/dev/null; echo out of ideas >&2; exit 3; fi; cat >%h-%c`
	all := s.start(nil, path, "--exec", command).wait(1)
	for _, h := range s.hosts {
		r := all[h.Name]
		switch {
		case h.Name != "B1":
			s.same(path, h.Name+"-"+h.Node.Cluster, h)
		case r.Phase != "failed" || r.Exit == nil || *r.Exit != 3 || !strings.Contains(r.Error, "out of ideas"):
			t.Errorf("the host whose command failed: %+v", r)
		}
	}
	s.cleanAfter(s.hosts, "A1-A", "B0-B", "B2-B")
}
