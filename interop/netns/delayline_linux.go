package netns

import (
	"errors"
	"io"
	"time"
)

const (
	// largestFrame is the most that one read gives: a virtio header, an Ethernet header and an IP packet.
	largestFrame = 10 + 14 + 65535
	// chunkSize is room for four of the largest frames, or for some hundred of the usual ones.
	chunkSize = 256 << 10
	// spareChunks is how many chunks a line keeps for reuse.
	spareChunks = 4
)

// errNoFrame is what the source of a delay line returns while it has nothing.
var errNoFrame = errors.New("no frame")

// delayLine passes frames on in order, each a fixed time after it came. Not for concurrent use. What it holds has no limit of its
// own: the source is limited in rate, and so is what comes within the delay.
type delayLine struct {
	// Constant. A read gives one frame or errNoFrame, a write takes one; neither blocks.
	from  io.Reader
	to    io.Writer
	delay time.Duration

	held   []frame // in order; those before next are gone
	next   int
	home   *chunk // where the next frame is read into, at used
	used   int
	spares []*chunk
}

// chunk is a stretch of memory that frames are read into one behind the other, so that a small frame takes little room and none
// is copied. frames counts those in it that are still held.
type chunk struct {
	frames int
	data   [chunkSize]byte
}

// frame is one read's worth of bytes.
type frame struct {
	due  time.Time
	data []byte
	home *chunk
}

// collect reads frames until there are no more. An error means that there will never be any.
func (l *delayLine) collect() error {
	for {
		l.makeRoom()
		n, err := l.from.Read(l.home.data[l.used : l.used+largestFrame])
		if errors.Is(err, errNoFrame) {
			return nil
		}
		if err != nil {
			return err
		}
		l.held = append(l.held, frame{due: time.Now().Add(l.delay), data: l.home.data[l.used : l.used+n], home: l.home})
		l.home.frames++
		l.used += n
	}
}

// deliver writes the frames that are due. One that is not taken is lost, as on a wire; the error is that of the last one lost.
func (l *delayLine) deliver(now time.Time) error {
	var lost error
	for l.next < len(l.held) && !l.held[l.next].due.After(now) {
		f := l.held[l.next]
		if _, err := l.to.Write(f.data); err != nil {
			lost = err
		}
		f.home.frames--
		if f.home.frames == 0 && f.home != l.home && len(l.spares) < spareChunks {
			l.spares = append(l.spares, f.home)
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

// due is when deliver has work next; false if nothing is held.
func (l *delayLine) due() (time.Time, bool) {
	if l.next == len(l.held) {
		return time.Time{}, false
	}
	return l.held[l.next].due, true
}

// makeRoom sees to it that the largest frame can be read.
func (l *delayLine) makeRoom() {
	switch {
	case l.home != nil && l.home.frames == 0:
		l.used = 0
	case l.home != nil && chunkSize-l.used >= largestFrame:
	case len(l.spares) > 0:
		last := len(l.spares) - 1
		l.home, l.used = l.spares[last], 0
		l.spares = l.spares[:last]
	default:
		l.home, l.used = new(chunk), 0
	}
}
