package cast

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

var streamTime = flag.Duration("stream", 0, "run the test of a long stream, for this time")

// streamRate is the rate of the long stream, in bytes per second.
const streamRate = 50e6

// TestLongStream casts a stream at a steady rate to four hosts for -stream. Memory stays as it
// is in the first part, and nothing waits on a disk after it.
func TestLongStream(t *testing.T) {
	if *streamTime == 0 {
		t.Skip("takes minutes: go test -run LongStream ./interop/cast -stream 10m")
	}
	s := newSite(t, 4*lan, []int{3, 2}, there)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := s.start(r, "-", "--exec", "cat >/dev/null")
	fed := make(chan error, 1)
	go func() { fed <- errors.Join(feed(w, *streamTime), w.Close()) }()
	start := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var first, peak, spooled int64 // the highest of the first fifth and of all; on disks after it
	for ended := false; !ended; {
		select {
		case err := <-fed:
			if err != nil {
				t.Error(err)
			}
			ended = true
		case <-tick.C:
			rss, waits := s.streamUse(c)
			peak = max(peak, rss)
			if time.Since(start) < *streamTime/5 { // all lag while hosts log in, and the stream catches up
				first = peak
			} else {
				spooled = max(spooled, waits)
			}
			if testing.Verbose() && int(time.Since(start).Seconds())%30 == 0 {
				t.Logf("%3.0f s: %d MB in the largest process, %d MB on disks", time.Since(start).Seconds(), rss>>20, waits>>20)
			}
		}
	}
	for name, r := range c.wait(0) {
		if want := int64(streamRate * streamTime.Seconds()); r.Bytes < want*95/100 {
			t.Errorf("%s has %d bytes, want about %d", name, r.Bytes, want)
		}
	}
	t.Logf("largest process: %d MB in the first fifth, %d MB in total; at most %d MB waited on disks", first>>20, peak>>20, spooled>>20)
	if float64(peak) > 1.3*float64(first) {
		t.Errorf("memory grows from %d to %d MB", first>>20, peak>>20)
	}
	if spooled > 0 {
		t.Errorf("%d MB waited on disks", spooled>>20)
	}
	s.cleanAfter(s.hosts)
}

// feed writes random bytes at streamRate. When it is late it catches up.
func feed(w *os.File, during time.Duration) error {
	b := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	start := time.Now()
	for written := 0.0; time.Since(start) < during; {
		if late := time.Since(start).Seconds()*streamRate - written; late < float64(len(b)) {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		b[0]++ // no two parts of the stream are alike
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("the stream is cut short: %w", err)
		}
		written += float64(len(b))
	}
	return nil
}

// streamUse is the resident memory of the largest process of the cast, and the bytes of files
// without a name that its processes have open.
func (s *site) streamUse(c *casting) (rss, spooled int64) {
	pids := []int{c.proc.Pid()}
	for _, h := range s.hosts {
		for _, p := range agents(s.t, h) {
			pids = append(pids, p.Pid)
		}
	}
	for _, pid := range pids {
		if used, err := netns.UsageOf(pid); err == nil { // it may have ended
			rss = max(rss, used.Memory)
		}
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, f := range files {
			var st syscall.Stat_t
			if name, err := os.Readlink(f); err == nil && strings.HasSuffix(name, " (deleted)") && syscall.Stat(f, &st) == nil {
				spooled += st.Blocks * 512
			}
		}
	}
	return rss, spooled
}
