package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier notifies systemd of the state of the process, see sd_notify(3). It does nothing in a process
// that systemd did not start as a service of type notify.
type Notifier struct {
	conn     *net.UnixConn // nil without systemd
	watchdog time.Duration // 0 if none is asked for
	log      *slog.Logger
	health   *Health

	stop  context.CancelFunc
	alive sync.WaitGroup // sends WATCHDOG=1
}

// NewNotifier connects to systemd.
func NewNotifier(getenv func(string) string, log *slog.Logger, h *Health) *Notifier {
	n := &Notifier{log: log, health: h}
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return n
	}
	var err error
	n.conn, err = net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"}) // @ is an abstract one
	if err != nil {
		log.Warn("systemd cannot be notified", "error", err)
		return n
	}
	n.watchdog = watchdogInterval(getenv)
	return n
}

// watchdogInterval returns the time within which systemd expects WATCHDOG=1, 0 for none.
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
func (n *Notifier) send(lines ...string) {
	if n.conn == nil {
		return
	}
	_ = n.conn.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := n.conn.Write([]byte(strings.Join(lines, "\n"))); err != nil && !errors.Is(err, net.ErrClosed) {
		n.log.Debug("systemd was not notified", "error", err)
	}
}

// Run prints the address of a process that has started, reports that it is ready, and blocks until ctx ends, when it
// reports that the process stops.
func (n *Notifier) Run(ctx context.Context, out io.Writer, address ...any) error {
	if _, err := fmt.Fprintln(out, address...); err != nil {
		return errors.New("print the address: " + err.Error())
	}
	n.Ready()
	<-ctx.Done()
	n.log.Info("shutting down")
	n.Stopping()
	return nil
}

// Ready reports the end of the start, and from then on that the process is alive.
func (n *Notifier) Ready() {
	n.health.ready.Store(true)
	n.send("READY=1")
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	if n.watchdog > 0 {
		n.alive.Go(func() { n.keepAlive(ctx) })
	}
}

// keepAlive sends WATCHDOG=1 as long as the node answers in time.
func (n *Notifier) keepAlive(ctx context.Context) {
	tick := time.NewTicker(n.watchdog / 4)
	defer tick.Stop()
	for {
		n.sendAlive(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sendAlive sends WATCHDOG=1, unless the node takes longer to answer than half of the watchdog's time.
func (n *Notifier) sendAlive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.watchdog/2)
	defer cancel()
	if err := n.health.check(ctx); err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			n.log.Error("the node hangs: the watchdog is not notified", "error", err)
		}
		return
	}
	n.send("WATCHDOG=1")
}

// Reloading reports that the configuration is read again, until done is called.
func (n *Notifier) Reloading() (done func()) {
	var now unix.Timespec // since the machine was started, as systemd counts it
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/1000))
	return func() { n.send("READY=1") }
}

// Stopping reports that the process shuts down.
func (n *Notifier) Stopping() {
	n.health.ready.Store(false)
	if n.stop != nil {
		n.stop()
		n.alive.Wait()
	}
	n.send("STOPPING=1")
	if n.conn != nil {
		_ = n.conn.Close()
	}
}
