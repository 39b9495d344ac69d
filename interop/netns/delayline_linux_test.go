package netns

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// frames gives frames that hold their number, a pause after each, and then blocks until it is closed.
type frames struct {
	sizes []int
	pause time.Duration
	next  int
	end   chan struct{}
}

func (f *frames) Read(b []byte) (int, error) {
	if f.next == len(f.sizes) {
		<-f.end
		return 0, io.EOF
	}
	time.Sleep(f.pause)
	n := f.sizes[f.next]
	binary.NativeEndian.PutUint32(b, uint32(f.next))
	b[n-1] = byte(f.next)
	f.next++
	return n, nil
}

// wire notes what is written to it and when.
type wire struct {
	numbers, sizes []int
	times          []time.Duration
	start          time.Time
	refuse         int // number of the frame it does not take
}

var errRefused = errors.New("refused")

func (w *wire) Write(b []byte) (int, error) {
	number := int(binary.NativeEndian.Uint32(b))
	if number == w.refuse {
		return 0, errRefused
	}
	if b[len(b)-1] != byte(number) {
		number = -1
	}
	w.numbers, w.sizes = append(w.numbers, number), append(w.sizes, len(b))
	w.times = append(w.times, time.Since(w.start))
	return len(b), nil
}

func TestDelayLineKeepsOrderAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay, pause, count = 50 * time.Millisecond, 3 * time.Millisecond, 200
		in := &frames{pause: pause, end: make(chan struct{})}
		for i := range count {
			in.sizes = append(in.sizes, []int{60, 1514, largestFrame, 9000}[i%4])
		}
		out := &wire{start: time.Now(), refuse: 7}
		stop, filled, drained := make(chan struct{}), make(chan error), make(chan struct{})
		line := newDelayLine(delay, stop)
		var lost []error
		go func() { filled <- line.fill(in) }()
		go func() {
			line.drain(out, func(err error) { lost = append(lost, err) })
			close(drained)
		}()
		time.Sleep(time.Minute)
		close(in.end)
		if err := <-filled; err != io.EOF {
			t.Errorf("fill: %v", err)
		}
		close(stop)
		<-drained
		if !slices.Equal(lost, []error{errRefused}) {
			t.Errorf("lost: %v", lost)
		}
		i := 0
		for n, size := range in.sizes {
			if n == out.refuse {
				continue
			}
			want := time.Duration(n+1)*pause + delay
			if i >= len(out.numbers) || out.numbers[i] != n || out.sizes[i] != size || out.times[i] != want {
				t.Fatalf("place %d of %d is not frame %d of %d bytes at %v", i, len(out.numbers), n, size, want)
			}
			i++
		}
	})
}

func TestDelayLineStopsWithFramesInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &frames{sizes: []int{60, 60}, end: make(chan struct{})}
		out := &wire{start: time.Now(), refuse: -1}
		stop, drained := make(chan struct{}), make(chan struct{})
		line := newDelayLine(time.Hour, stop)
		go func() { _ = line.fill(in) }()
		go func() {
			line.drain(out, func(error) {})
			close(drained)
		}()
		synctest.Wait()
		close(stop)
		<-drained
		close(in.end)
		if len(out.numbers) != 0 || time.Since(out.start) != 0 {
			t.Errorf("frames %v after %v", out.numbers, time.Since(out.start))
		}
	})
}
