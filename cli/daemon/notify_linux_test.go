package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// manager is systemd's side of notifications.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
}

func newManager(t *testing.T) *manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(shortDir(t), "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &manager{t, conn}
}

// next returns the variables of the next notification.
func (m *manager) next() []string {
	m.t.Helper()
	b := make([]byte, 4096)
	_ = m.conn.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := m.conn.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(string(b[:n]), "\n")
}

// await waits for a variable, and returns the notification.
func (m *manager) await(variable string) []string {
	m.t.Helper()
	for {
		if lines := m.next(); slices.Contains(lines, variable) {
			return lines
		}
	}
}

// pending empties the queue.
func (m *manager) pending() (n int) {
	b := make([]byte, 4096)
	for ; ; n++ {
		_ = m.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := m.conn.Read(b); err != nil {
			return n
		}
	}
}

// TestWatchdogHungNode checks that a hung node does not notify systemd until it answers again.
func TestWatchdogHungNode(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	var hang atomic.Pointer[chan struct{}]
	var probes atomic.Int64
	hangs := make(chan bool, 10)
	h := NewHealth(func(context.Context) error {
		probes.Add(1)
		if ch := hang.Load(); ch != nil {
			hangs <- true
			<-*ch
		}
		return nil
	})
	env := map[string]string{"NOTIFY_SOCKET": m.conn.LocalAddr().String(), "WATCHDOG_USEC": "1200000"}
	n := NewNotifier(func(name string) string { return env[name] }, slog.New(slog.DiscardHandler), h)
	if h.ready.Load() {
		t.Error("it is ready before it is")
	}
	n.Ready()
	if lines := m.next(); !slices.Equal(lines, []string{"READY=1"}) {
		t.Errorf("at first %q", lines)
	}
	m.await("WATCHDOG=1")
	m.await("WATCHDOG=1")
	over := make(chan struct{})
	hang.Store(&over)
	<-hangs
	m.pending()
	began := probes.Load()
	for range 2 { // two times half of the watchdog's time
		ctx, cancel := context.WithTimeout(t.Context(), n.watchdog/2)
		if err := h.check(ctx); err == nil {
			t.Error("a node that hangs is well")
		}
		cancel()
	}
	if got := m.pending(); got > 0 || probes.Load() != began {
		t.Errorf("%d notifications and %d probes of a hung node", got, probes.Load()-began)
	}
	hang.Store(nil)
	close(over)
	m.await("WATCHDOG=1")
	n.Stopping()
	m.await("STOPPING=1")
	if h.ready.Load() {
		t.Error("it is ready after it")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	why := errors.New("disk on fire")
	h := NewHealth(func(context.Context) error { return why })
	if err := h.check(t.Context()); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var probes atomic.Int64
	h = NewHealth(func(context.Context) error {
		probes.Add(1)
		<-t.Context().Done()
		return nil
	})
	for range 1000 {
		if err := h.check(ctx); err == nil || !strings.Contains(err.Error(), "not answered") {
			t.Fatal(err)
		}
	}
	if n := probes.Load(); n > 1 {
		t.Errorf("%d probes hang", n)
	}
}

// shortDir returns a directory with a path short enough for sockets in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mob")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
