package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// statusEvery is the time between two lines of progress for `systemctl status`.
const statusEvery = 5 * time.Second

// notifier tells systemd how the process fares, see sd_notify(3). It does nothing in a process that
// systemd did not start as a service of type notify.
type notifier struct {
	conn     *net.UnixConn // nil without systemd
	watchdog time.Duration // 0 if none is asked for
	log      *slog.Logger
	health   *health
	status   func() string // one line of progress

	stop context.CancelFunc
	done chan struct{} // closed when nothing more is sent besides
}

// newNotifier connects to systemd. status must not block.
func newNotifier(getenv func(string) string, log *slog.Logger, h *health, status func() string) *notifier {
	n := &notifier{log: log, health: h, status: status, done: make(chan struct{})}
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return n
	}
	var err error
	n.conn, err = net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"}) // @ is an abstract one
	if err != nil {
		log.Warn("systemd is not told of progress", "error", err)
		return n
	}
	n.watchdog = watchdogInterval(getenv)
	return n
}

// watchdogInterval is how often systemd wants to hear that this process is alive, 0 if never.
func watchdogInterval(getenv func(string) string) time.Duration {
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || us <= 0 {
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

// send sends variables. systemd reads without delay, so it may fail, but not hang.
func (n *notifier) send(lines ...string) {
	if n.conn == nil {
		return
	}
	_ = n.conn.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := n.conn.Write([]byte(strings.Join(lines, "\n"))); err != nil && !errors.Is(err, net.ErrClosed) {
		n.log.Debug("systemd was not told", "error", err)
	}
}

// ready says that the start is over, and from then on how the process fares.
func (n *notifier) ready() {
	n.health.ready.Store(true)
	n.send("READY=1", "STATUS="+n.status())
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	go func() {
		defer close(n.done)
		if n.conn != nil {
			n.report(ctx)
		}
	}()
}

// report sends signs of life as long as the node answers in time, and the status when it changes.
func (n *notifier) report(ctx context.Context) {
	every := statusEvery
	if n.watchdog > 0 {
		every = min(every, n.watchdog/4)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := ""
	for {
		if n.watchdog > 0 {
			n.sendAlive(ctx)
		}
		if now := n.status(); now != last {
			n.send("STATUS=" + now)
			last = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sendAlive sends a sign of life, unless the node does not answer in half of the watchdog's time.
func (n *notifier) sendAlive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.watchdog/2)
	defer cancel()
	if err := n.health.check(ctx); err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			n.log.Error("the node hangs: the watchdog hears nothing", "error", err)
		}
		return
	}
	n.send("WATCHDOG=1")
}

// reloading says that the configuration is read again, until done is called.
func (n *notifier) reloading() (done func()) {
	n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", monotonic().Microseconds()))
	return func() { n.send("READY=1") }
}

// stopping says that the process shuts down.
func (n *notifier) stopping() {
	n.health.ready.Store(false)
	if n.stop != nil {
		n.stop()
		<-n.done
	}
	n.send("STOPPING=1", "STATUS=shutting down")
	if n.conn != nil {
		_ = n.conn.Close()
	}
}

// statusLine says in one line what a node does.
func (d *daemon) statusLine() string {
	phases := map[peer.Phase]int{}
	var have, length, rate int64
	for _, t := range d.node.Transfers() {
		st := t.Progress()
		phases[st.Phase]++
		if st.Phase == peer.Fetching && st.Length > 0 {
			have, length, rate = have+st.Have, length+st.Length, rate+st.Rate.WANIn+st.Rate.LANIn
		}
	}
	var parts []string
	for _, p := range []peer.Phase{peer.Seeking, peer.Checking, peer.Fetching, peer.Whole, peer.Stopped, peer.Failed} {
		if n := phases[p]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, p))
		}
	}
	if len(parts) == 0 {
		return "no transfers"
	}
	line := "transfers: " + strings.Join(parts, ", ")
	if length > 0 {
		line += fmt.Sprintf("; %d %% of %s at %s", 100*have/length, term.Bytes(length), term.Rate(rate))
	}
	return line
}
