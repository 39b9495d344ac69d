package netns

import (
	"errors"
	"io"
	"math/rand/v2"
	"time"
)

const (
	// largestFrame is the most that one read returns: a virtio header, an Ethernet header and an
	// IP packet.
	largestFrame = 10 + 14 + 65535
	// chunkSize has room for four of the largest frames, or for more than a hundred usual ones.
	chunkSize = 256 << 10
)

// errNoFrame is the error of the source of a delay line while it has no frame.
var errNoFrame = errors.New("no frame")

// delayLine delivers frames in order, each a fixed time after it arrived. It is not safe for
// concurrent use. It has no limit on the frames that it holds: the rate of the source
// limits the number.
type delayLine struct {
	// Constant. A read returns one frame or errNoFrame, a write accepts one; neither blocks.
	from  io.Reader
	to    io.Writer
	delay time.Duration
	loss  float64 // share of frames that are lost at random

	held []frame // in order
	// room is memory into which frames are read one behind another, so that small frames take little.
	room []byte
}

// frame is the bytes of one read.
type frame struct {
	due  time.Time
	data []byte
}

// collect reads frames until the source has no more. An error is permanent.
func (l *delayLine) collect() error {
	for {
		if len(l.room) < largestFrame {
			l.room = make([]byte, chunkSize)
		}
		n, err := l.from.Read(l.room[:largestFrame])
		if errors.Is(err, errNoFrame) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.loss > 0 && rand.Float64() < l.loss {
			continue
		}
		l.held = append(l.held, frame{time.Now().Add(l.delay), l.room[:n]})
		l.room = l.room[n:]
	}
}

// deliver writes the frames that are due. A frame whose write fails is lost, as on a wire.
func (l *delayLine) deliver(now time.Time) {
	for len(l.held) > 0 && !l.held[0].due.After(now) {
		_, _ = l.to.Write(l.held[0].data)
		l.held[0] = frame{}
		l.held = l.held[1:]
	}
}

// due is the time when the next frame is due; false if none is held.
func (l *delayLine) due() (time.Time, bool) {
	if len(l.held) == 0 {
		return time.Time{}, false
	}
	return l.held[0].due, true
}
