//go:build !race

package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/clitest"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// cpuTime returns the processor time of a process, to 10 ms.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] { // of user and system
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestMetricsCostLittle checks that scraping a daemon with 64 peers each second and streaming its page take at most a
// hundredth of a core.
func TestMetricsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures for half a minute")
	}
	const peers, during, rounds = 64, 6 * time.Second, 3
	dir := clitest.ShortDir(t)
	socket, data := filepath.Join(dir, "h"), filepath.Join(dir, "d")
	s := startService(t, "mobd", "--cluster", "hub", "--listen", "/ip4/127.0.0.1/tcp/0", "--log-level", "warn",
		"--data", data, "--http", "unix:"+socket)
	s.Await("READY=1")
	c, err := control.Dial(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	path, _ := peertest.RandomFile(t, 1<<20)
	st, _, err := c.Seed(t.Context(), control.SeedRequest{Path: path}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		t.Fatal(err)
	}
	for i := range peers {
		n := peertest.Start(t, fmt.Sprintf("c%d", i/8))
		peertest.Wait(t, peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out")))
	}
	peertest.Eventually(t, "all peers", func() bool {
		st, err := c.Transfer(t.Context(), path)
		return err == nil && st.Connected == peers
	})
	measure := func(each func()) time.Duration {
		before := cpuTime(t, s.Process.Pid)
		for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(time.Second) {
			each()
		}
		return cpuTime(t, s.Process.Pid) - before
	}
	var took time.Duration
	scrapes := 0
	scrape := func() {
		began := time.Now()
		status, body := fetchLocal(t, socket, "/metrics")
		took += time.Since(began)
		scrapes++
		if status != http.StatusOK || !strings.Contains(body, `mob_peers{cluster="c7"} 8`) {
			t.Errorf("%d %s", status, body)
		}
	}
	// Whatever else the machine does only adds, so the least counts.
	idle, busy, share := time.Hour, time.Hour, 1.0
	for round := 0; round < rounds && share > 0.01; round++ {
		idle = min(idle, measure(func() {}))
		left := openPage(t, socket)
		busy = min(busy, measure(scrape))
		left()
		share = float64(busy-idle) / float64(during)
	}
	t.Logf("%d peers: %.2f %% of a core idle, %.2f %% more with metrics and page; a scrape takes %v",
		peers, 100*float64(idle)/float64(during), 100*share, took/time.Duration(scrapes))
	if share > 0.01 {
		t.Errorf("metrics and page take %.2f %% of a core", 100*share)
	}
}

// openPage reads the events of the page, until it is left.
func openPage(t *testing.T, socket string) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := unixClient(socket).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	return func() {
		cancel()
		<-closed
		resp.Body.Close()
	}
}
