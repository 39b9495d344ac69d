package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"
)

// pace is the least time between two rounds of a relay. A wake-up costs more than the frames do, so
// frames that are closer together travel together. Each may be late by as much, twice on the path.
const pace = 500 * time.Microsecond

// relay is all links of a grid with a delay or with loss. Each is two taps, between which one goroutine carries
// frames. The kernel's own way to delay, netem, is missing from some kernels; and here a frame of
// 64 KiB stays one frame, unless frames are lost.
type relay struct {
	delay  time.Duration
	loss   float64 // share of frames
	log    *slog.Logger
	taps   []tap
	stopFD int           // an eventfd that is readable when run must return
	ended  chan struct{} // closed when run has returned; nil before start

	// Owned by run once it is started. wait has stopFD first, then the source of each line.
	lines []*delayLine
	wait  []unix.PollFd
}

// newRelay makes a relay without links. The caller must close it.
func newRelay(delay time.Duration, loss float64, log *slog.Logger) (*relay, error) {
	stopFD, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make an eventfd: %w", err)
	}
	return &relay{
		delay:  delay,
		loss:   loss,
		log:    log,
		stopFD: stopFD,
		wait:   []unix.PollFd{{Fd: int32(stopFD), Events: unix.POLLIN}},
	}, nil
}

// join is joinByVeth with a delay each way. In the namespaces the ends look the same: Ethernet
// interfaces with these names and addresses, which count the same bytes. It must not be called
// after start.
func (r *relay) join(near, far linkEnd) error {
	offloads := offloadChoices(r.loss > 0) // one frame that is lost must not be many packets
	for _, end := range []linkEnd{near, far} {
		t, err := openTap(end, offloads)
		if err != nil {
			return err
		}
		r.taps = append(r.taps, t)
	}
	a, b := r.taps[len(r.taps)-2], r.taps[len(r.taps)-1]
	for _, d := range [][2]tap{{a, b}, {b, a}} {
		r.lines = append(r.lines, &delayLine{from: d[0], to: d[1], delay: r.delay, loss: r.loss})
		r.wait = append(r.wait, unix.PollFd{Fd: int32(d[0]), Events: unix.POLLIN})
	}
	return nil
}

// start starts to carry frames.
func (r *relay) start() {
	r.ended = make(chan struct{})
	go r.run()
}

func (r *relay) run() {
	defer close(r.ended)
	for {
		_, err := unix.Ppoll(r.wait, r.idle(), nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			r.log.Error("all links are dead", "err", err)
			return
		}
		if r.wait[0].Revents != 0 {
			return
		}
		r.round()
		rest := unix.NsecToTimespec(pace.Nanoseconds())
		_ = unix.Nanosleep(&rest, nil) // a signal may shorten it
	}
}

// round collects the frames that have arrived and delivers those that are due.
func (r *relay) round() {
	for i, l := range r.lines {
		source := &r.wait[i+1]
		if source.Revents != 0 {
			if err := l.collect(); err != nil {
				r.log.Error("link is dead", "line", i, "err", err)
				source.Fd = -1 // no longer polled
			}
		}
		if err := l.deliver(time.Now()); err != nil {
			r.log.Warn("frames lost", "line", i, "err", err)
		}
	}
}

// idle is the time until a frame is due, nil if none is held.
func (r *relay) idle() *unix.Timespec {
	var first time.Time
	for _, l := range r.lines {
		if due, ok := l.due(); ok && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if first.IsZero() {
		return nil
	}
	t := unix.NsecToTimespec(max(time.Until(first), 0).Nanoseconds())
	return &t
}

// close removes all links and waits for the goroutine. Frames in flight are lost. It must be
// called only once.
func (r *relay) close() error {
	var errs []error
	if r.ended != nil {
		if _, err := unix.Write(r.stopFD, binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
			return fmt.Errorf("netns: stop the relay: %w", err)
		}
		<-r.ended
	}
	for _, t := range r.taps {
		errs = append(errs, t.close())
	}
	errs = append(errs, unix.Close(r.stopFD))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("netns: close the relay: %w", err)
	}
	return nil
}
