package cast

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

var stragglers = flag.Bool("stragglers", false, "run the tests of stragglers with eight hosts, one test at a time, and check times: for a machine without other work")

// newStragglerSite is a site of one cluster, of eight hosts with -stragglers, which have the program. The NIC of its last host has another rate. Rates of 0 are unlimited.
func newStragglerSite(t *testing.T, hosts int, rate, last netns.Rate) (_ *site, slow string) {
	t.Helper()
	if *stragglers {
		hosts = 8
	}
	c := netns.Cluster{Name: "A", Nodes: hosts + 1, NIC: rate}
	if last != rate {
		c.SlowNIC = map[int]netns.Rate{hosts: last}
	}
	return newSiteOn(t, netns.Config{Clusters: []netns.Cluster{c}}, there), fmt.Sprint("A", hosts)
}

// lastDone returns the time in seconds until the last host was done, except one that must have failed for a reason.
func (s *site) lastDone(all map[string]result, slow, why string) (seconds float64) {
	s.t.Helper()
	for name, r := range all {
		switch {
		case name == slow && (r.Phase != "failed" || !strings.HasPrefix(r.Error, why)):
			s.t.Errorf("%s: %+v", name, r)
		case name != slow && r.Phase != "done":
			s.t.Errorf("%s: %+v", name, r)
		case name != slow:
			seconds = max(seconds, r.Seconds)
		}
	}
	return seconds
}

// TestGrace casts a file to hosts, one with a NIC of 0.2 MB/s. The cast ends five seconds after the other hosts are done, which
// are not slower than without it.
func TestGrace(t *testing.T) {
	s, slow := newStragglerSite(t, 3, 12.5*netns.MBps, 0.2*netns.MBps)
	size := 10_000_000
	if *stragglers {
		size = 120_000_000
	}
	if *stragglers { // the first cast loads the program and the files of ssh
		s.start(nil, s.file("small", 1_000_000)).wait(0)
	}
	path := s.file("content", size)
	start := time.Now()
	c := s.start(nil, path, "--min", fmt.Sprint(len(s.hosts)-1), "--grace", "5s")
	all := c.wait(0)
	took := time.Since(start).Seconds()
	last := s.lastDone(all, slow, "grace of 5s")
	if *stragglers {
		t.Logf("%s", &c.errs)
	}
	s.same(path, "content", s.without(slow)...)
	s.cleanAfter(s.hosts, "content", "small")
	if _, err := os.Stat(s.host(slow).Home() + "/content"); err == nil {
		t.Errorf("%s has a part", slow)
	}
	if got := all[slow].Seconds; got < last+5 {
		t.Errorf("%s was given up after %.2f s, the other hosts were done after %.2f s", slow, got, last)
	}
	if !*stragglers {
		return
	}
	s.hosts = s.without(slow)
	c = s.start(nil, path, "-o", "again")
	alone := s.lastDone(c.wait(0), "", "")
	t.Logf("%s", &c.errs)
	t.Logf("%.2f s, after 5 s of grace %.2f s in total; without the slow host %.2f s", last, took, alone)
	if took > last+6 {
		t.Errorf("it ended %.2f s after the other hosts were done", took-last)
	}
	if last > alone*1.03 {
		t.Errorf("the other hosts were done after %.2f s, and after %.2f s without the slow one", last, alone)
	}
}

// TestDropSlow casts a stream to hosts, one with a command that reads 1 MB/s, or nothing. The other hosts get all of it.
func TestDropSlow(t *testing.T) {
	const pause = 50 * time.Millisecond
	// The memory of the source and of a host takes 268 MB of a stream, in addition to the spools.
	rate, seconds, drop, read, spool := 150_000_000, 2, 3, 0, 1_000_000
	if *stragglers {
		rate, seconds, drop, read, spool = 20_000_000, 20, 5, 250_000, 32_000_000
	}
	s, slow := newStragglerSite(t, 2, 0, 0)
	path := s.file("content", rate*seconds)
	content, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	command := fmt.Sprintf(`>copy; if [ $MOB_HOST = %s ]; then while head -c %d >/dev/null; do sleep 0.25; done; else cat >copy; fi`, slow, read)
	c := s.start(r, "-", "--exec", command, "--spool", fmt.Sprint(spool), "--min", fmt.Sprint(len(s.hosts)-1), fmt.Sprintf("--drop-slow=%ds", drop))
	for _, h := range s.hosts {
		await(t, "the command starts on "+h.Name, func() bool { return slices.Contains(list(t, h.Home()), "copy") })
	}
	start := time.Now()
	held := make(chan time.Duration, 1)
	go func() {
		defer w.Close()
		var waited time.Duration
		for {
			began := time.Now()
			_, err := io.CopyN(w, content, int64(rate)/int64(time.Second/pause))
			if took := time.Since(began); took > pause {
				waited += took - pause
			} else {
				time.Sleep(pause - took)
			}
			if err != nil {
				held <- waited
				return
			}
		}
	}()
	all := c.wait(0)
	took := time.Since(start).Seconds()
	s.lastDone(all, slow, "too slow: ")
	if want := fmt.Sprintf(" MB behind for %d s", drop); !strings.HasSuffix(all[slow].Error, want) {
		t.Errorf("%q, want %q", all[slow].Error, want)
	}
	s.same(path, "copy", s.without(slow)...)
	s.cleanAfter(s.hosts, "copy")
	waited := (<-held).Seconds()
	t.Logf("a stream of %d s was held for %.2f s and cast in %.2f s: %s", seconds, waited, took, all[slow].Error)
	if *stragglers && (waited > 6 || took > float64(seconds)+8) {
		t.Error("want 6 s at most, and 8 s in addition to the stream")
	}
}

// TestDeadline ends a cast of a file that takes longer. Nothing is left.
func TestDeadline(t *testing.T) {
	s, _ := newStragglerSite(t, 3, netns.MBps, netns.MBps)
	path := s.file("content", 60_000_000)
	start := time.Now()
	all := s.start(nil, path, "--deadline", "5s").wait(1)
	took := time.Since(start)
	for name, r := range all {
		if r.Phase != "failed" || r.Error != "deadline of 5s" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s.cleanAfter(s.hosts)
	t.Logf("it took %.2f s", took.Seconds())
	if *stragglers && took > 8*time.Second {
		t.Error("want 8 s at most")
	}
}
