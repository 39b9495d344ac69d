package netns

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// relay is a link with a length: two taps, between which this program carries each frame after a delay. The kernel's own way to
// delay, netem, is not in every kernel; and here a frame of 64 KiB is one frame.
type relay struct {
	ends [2]*os.File
	stop chan struct{}
	work sync.WaitGroup
	log  *slog.Logger
}

// joinByRelay does what joinByVeth does, but frames take the given time each way. To the namespaces the ends look the same: Ethernet
// interfaces with these names and addresses, that count the same bytes. The caller must close the relay, before the namespaces.
func joinByRelay(near, far linkEnd, delay time.Duration, log *slog.Logger) (*relay, error) {
	a, err := openTap(near)
	if err != nil {
		return nil, err
	}
	b, err := openTap(far)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	r := &relay{ends: [2]*os.File{a, b}, stop: make(chan struct{}), log: log}
	r.carry(a, b, delay)
	r.carry(b, a, delay)
	return r, nil
}

// carry starts one direction.
func (r *relay) carry(from, to *os.File, delay time.Duration) {
	line := newDelayLine(delay, r.stop)
	r.work.Go(func() {
		if err := line.fill(from); !errors.Is(err, os.ErrClosed) {
			r.log.Error("link is dead", "interface", from.Name(), "err", err)
		}
	})
	r.work.Go(func() {
		line.drain(to, func(err error) {
			if !errors.Is(err, os.ErrClosed) {
				r.log.Warn("frame lost", "interface", to.Name(), "err", err)
			}
		})
	})
}

// close ends the link and returns when nothing of it runs any more. Frames on their way are lost. Once only.
func (r *relay) close() error {
	close(r.stop)
	err := errors.Join(r.ends[0].Close(), r.ends[1].Close())
	r.work.Wait()
	if err != nil {
		return fmt.Errorf("close a relay: %w", err)
	}
	return nil
}
