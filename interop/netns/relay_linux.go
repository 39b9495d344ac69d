package netns

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
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
	taps   []tap
	stopFD int           // an eventfd that is readable when run must return
	ended  chan struct{} // closed when run has returned; nil before start

	// Owned by run while it runs. wait has stopFD first, then the source of each line.
	lines []*delayLine
	wait  []unix.PollFd
	err   error // of the first link that failed
}

// newRelay makes a relay without links. The caller must close it.
func newRelay(delay time.Duration, loss float64) (*relay, error) {
	stopFD, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &relay{
		delay: delay, loss: loss, stopFD: stopFD, wait: []unix.PollFd{{Fd: int32(stopFD), Events: unix.POLLIN}},
	}, nil
}

// join carries frames between two taps. It must not be called after start.
func (r *relay) join(a, b tap) {
	r.taps = append(r.taps, a, b)
	for _, d := range [][2]tap{{a, b}, {b, a}} {
		r.lines = append(r.lines, &delayLine{from: d[0], to: d[1], delay: r.delay, loss: r.loss})
		r.wait = append(r.wait, unix.PollFd{Fd: int32(d[0]), Events: unix.POLLIN})
	}
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
			r.err = err
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
				r.err = cmp.Or(r.err, err)
				source.Fd = -1 // no longer polled
			}
		}
		l.deliver(time.Now())
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
	if r.ended != nil {
		if _, err := unix.Write(r.stopFD, binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
			return fmt.Errorf("netns: stop the relay: %w", err)
		}
		<-r.ended
	}
	errs := []error{r.err, unix.Close(r.stopFD)}
	for _, t := range r.taps {
		errs = append(errs, closeFD(int(t)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("netns: relay: %w", err)
	}
	return nil
}
