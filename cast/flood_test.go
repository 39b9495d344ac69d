package cast

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
)

// testAddr and testPeer are the address of a node and its id.
const (
	testAddr = "/ip4/127.0.0.1/tcp/1"
	testPeer = "12D3KooWGRUvh7TkmXNpW5yQ1L1mFbqjY4EhT2FzPz1RzJ4mXoWd"
)

// readyReport is a Ready report with a number of addresses.
func readyReport(addrs int) string {
	return fmt.Sprintf(`{"ready":{"ID":"%s","Addrs":["%s"]}}`, testPeer, strings.Join(slices.Repeat([]string{testAddr}, addrs), `","`))
}

// TestInvalidReports checks that a host that sends a report that no agent sends fails with that reason, and that the
// other host gets the content.
func TestInvalidReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reports, want string }{
		"second ready":       {readyReport(1) + "\n" + readyReport(1), "the host sent a second Ready report"},
		"too many addresses": {readyReport(9), "the host sent 9 addresses, more than 8"},
		"output":             {`{"output":"a line"}`, "the host sent output of a command, and runs none"},
		"long error":         {`{"failed":{"error":"` + strings.Repeat(`x\n`, 10_000) + `"}}`, strings.Repeat("x; ", 1365) + "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a", "bad")
			says := `printf '\036{"hello":{"platform":"linux/amd64"}}\n'; read -r name; read -r start` + "\n"
			for line := range strings.Lines(c.reports) {
				says += "printf '\\036%s\\n' '" + strings.TrimSpace(line) + "'\n"
			}
			g.onLogin("bad", says+`while :; do printf '\036{"progress":{}}\n'; done`)
			path, content := randomFile(t, "src", 100_000)
			r, err := g.cast(g.config(path, "a", "bad"))
			must(t, err)
			g.checkFile(content, g.home("a", "src"))
			if h := r.Hosts[1]; h.Phase != Failed || h.Error != c.want {
				t.Errorf("%s: %.100q, want %.100q", h.Phase, h.Error, c.want)
			}
		})
	}
}

// TestDialsBounded checks that a cast dials 64 of a thousand agents that do not answer at a time, and each once.
func TestDialsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, all atomic.Int64
		d := &dials{slots: make(chan struct{}, maxDials), log: slog.New(slog.DiscardHandler), connect: func(ctx context.Context, _ libpeer.AddrInfo) error {
			all.Add(1)
			if n := now.Add(1); n > maxDials {
				t.Errorf("%d dials at a time", n)
			}
			<-ctx.Done()
			now.Add(-1)
			return ctx.Err()
		}}
		for range 1000 {
			d.start(t.Context(), libpeer.AddrInfo{})
		}
		time.Sleep(dialWait + 1)
		synctest.Wait()
		if n := now.Load(); n != maxDials {
			t.Errorf("%d dials, want %d", n, maxDials)
		}
		d.all.Wait()
		if n := all.Load(); n != 1000 {
			t.Errorf("%d agents dialed", n)
		}
	})
}
