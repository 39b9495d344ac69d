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
	// spareChunks is the number of chunks that are kept for reuse.
	spareChunks = 4
)

// errNoFrame is the error of the source of a delay line while it has no frame.
var errNoFrame = errors.New("no frame")

// delayLine delivers frames in order, each a fixed time after it arrived. It is not safe for
// concurrent use. It has no limit on the frames that it holds: the rate of the source
// limits those of one delay.
type delayLine struct {
	// Constant. A read returns one frame or errNoFrame, a write accepts one; neither blocks.
	from  io.Reader
	to    io.Writer
	delay time.Duration
	loss  float64 // share of frames that are lost at random

	held   []frame // in order; those before next have left
	next   int
	chunk  *chunk // into which the next frame is read, at used
	used   int
	spares []*chunk
}

// chunk is memory into which frames are read one behind another, so that small frames take little
// and none is copied. frames is the number of its frames that are still held.
type chunk struct {
	frames int
	data   [chunkSize]byte
}

// frame is the bytes of one read.
type frame struct {
	due   time.Time
	data  []byte
	chunk *chunk
}

// collect reads frames until the source has no more for now. An error is for good.
func (l *delayLine) collect() error {
	for {
		l.makeRoom()
		n, err := l.from.Read(l.chunk.data[l.used : l.used+largestFrame])
		if errors.Is(err, errNoFrame) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.loss > 0 && rand.Float64() < l.loss {
			continue
		}
		l.held = append(l.held, frame{due: time.Now().Add(l.delay), data: l.chunk.data[l.used : l.used+n], chunk: l.chunk})
		l.chunk.frames++
		l.used += n
	}
}

// deliver writes the frames that are due. A frame whose write fails is lost, as on a wire; the
// error is that of the last one.
func (l *delayLine) deliver(now time.Time) error {
	var lost error
	for l.next < len(l.held) && !l.held[l.next].due.After(now) {
		f := l.held[l.next]
		if _, err := l.to.Write(f.data); err != nil {
			lost = err
		}
		f.chunk.frames--
		if f.chunk.frames == 0 && f.chunk != l.chunk && len(l.spares) < spareChunks {
			l.spares = append(l.spares, f.chunk)
		}
		l.held[l.next] = frame{}
		l.next++
	}
	if l.next > len(l.held)/2 { // move the rest to the front, each frame at most once
		l.held = l.held[:copy(l.held, l.held[l.next:])]
		l.next = 0
	}
	return lost
}

// due is the time when the next frame is due; false if none is held.
func (l *delayLine) due() (time.Time, bool) {
	if l.next == len(l.held) {
		return time.Time{}, false
	}
	return l.held[l.next].due, true
}

// makeRoom makes room for the largest frame.
func (l *delayLine) makeRoom() {
	switch {
	case l.chunk != nil && l.chunk.frames == 0:
		l.used = 0
	case l.chunk != nil && chunkSize-l.used >= largestFrame:
	case len(l.spares) > 0:
		last := len(l.spares) - 1
		l.chunk, l.used = l.spares[last], 0
		l.spares = l.spares[:last]
	default:
		l.chunk, l.used = new(chunk), 0
	}
}
