package netns

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// frames is a source of frames that contain their number, up to the one before until.
type frames struct {
	sizes []int
	next  int
	until int // number of the first frame that has not arrived
}

func (f *frames) Read(b []byte) (int, error) {
	switch f.next {
	case len(f.sizes):
		return 0, io.EOF
	case f.until:
		return 0, errNoFrame
	}
	n := f.sizes[f.next]
	binary.NativeEndian.PutUint32(b, uint32(f.next))
	b[n-1] = byte(f.next)
	f.next++
	return n, nil
}

// wire records the frames that are written to it.
type wire struct {
	numbers, sizes []int
	reject         int // number of the frame whose write fails
}

var errRejected = errors.New("rejectd")

func (w *wire) Write(b []byte) (int, error) {
	number := int(binary.NativeEndian.Uint32(b))
	if b[len(b)-1] != byte(number) {
		number = -1
	}
	w.numbers, w.sizes = append(w.numbers, number), append(w.sizes, len(b))
	if number == w.reject {
		return 0, errRejected
	}
	return len(b), nil
}

// Every millisecond some frames arrive, and the frames of fifty milliseconds before must leave.
func TestDelayLineKeepsOrderAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay, each, count = 50, 3, 900
		in, out := &frames{}, &wire{reject: 700}
		for i := range count + 1 {
			in.sizes = append(in.sizes, []int{60, 1514, largestFrame, 9000}[i%4])
		}
		line := &delayLine{from: in, to: out, delay: delay * time.Millisecond}
		for ms := 1; len(out.numbers) < count; ms++ {
			in.until = min(ms*each, count)
			if err := line.collect(); err != nil {
				t.Fatal(err)
			}
			line.deliver(time.Now())
			want := min(max(ms-delay, 0)*each, count)
			if len(out.numbers) != want {
				t.Fatalf("after %d ms %d frames have left, want %d", ms, len(out.numbers), want)
			}
			time.Sleep(time.Millisecond)
		}
		for i, number := range out.numbers {
			if number != i || out.sizes[i] != in.sizes[i] {
				t.Fatalf("frame %d is number %d, of %d bytes, want %d", i, number, out.sizes[i], in.sizes[i])
			}
		}
		if due, held := line.due(); held {
			t.Errorf("a frame is due at %v, but none is held", due)
		}
		in.until = len(in.sizes)
		if err := line.collect(); err != io.EOF {
			t.Errorf("end of the source: %v", err)
		}
	})
}
