package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/cli/clitest"
)

// TestWatchdogHungNode checks that a hung node does not notify systemd until it answers again.
func TestWatchdogHungNode(t *testing.T) {
	t.Parallel()
	m := clitest.NewManager(t)
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
	env := map[string]string{"NOTIFY_SOCKET": m.Socket(), "WATCHDOG_USEC": "1200000"}
	n := NewNotifier(func(name string) string { return env[name] }, slog.New(slog.DiscardHandler), h)
	if h.ready.Load() {
		t.Error("it is ready before it is")
	}
	n.Ready()
	if lines := m.Next(); !slices.Equal(lines, []string{"READY=1"}) {
		t.Errorf("at first %q", lines)
	}
	m.Await("WATCHDOG=1")
	m.Await("WATCHDOG=1")
	over := make(chan struct{})
	hang.Store(&over)
	<-hangs
	m.Pending()
	began := probes.Load()
	for range 2 { // two times half of the watchdog's time
		ctx, cancel := context.WithTimeout(t.Context(), n.watchdog/2)
		if err := h.check(ctx); err == nil {
			t.Error("a node that hangs is well")
		}
		cancel()
	}
	if got := m.Pending(); got > 0 || probes.Load() != began {
		t.Errorf("%d notifications and %d probes of a hung node", got, probes.Load()-began)
	}
	hang.Store(nil)
	close(over)
	m.Await("WATCHDOG=1")
	n.Stopping()
	m.Await("STOPPING=1")
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
