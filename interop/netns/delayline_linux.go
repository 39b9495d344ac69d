package netns

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// largestFrame is the most that one read gives: a virtio header, an Ethernet header and an IP packet.
	largestFrame = 10 + 14 + 65535
	// chunkSize is room for four of the largest frames, or for some hundred of the usual ones.
	chunkSize = 256 << 10
)

// delayLine passes frames on in order, each a fixed time after it came. One goroutine fills it and one drains it. What it holds has
// no limit of its own: whoever fills it is limited in rate, and so is what comes within the delay.
type delayLine struct {
	// Constant.
	delay time.Duration
	wake  chan struct{} // has a token when frames may be waiting
	stop  <-chan struct{}

	chunks sync.Pool // of *chunk, for reuse

	// mu guards the frames that the drain has not taken yet.
	mu      sync.Mutex
	waiting []frame
}

// chunk is a stretch of memory that frames are read into one behind the other, so that a small frame takes little room and none
// is copied. users counts the frames in it that are not passed on yet, and the fill while it adds more.
type chunk struct {
	users atomic.Int32
	data  [chunkSize]byte
}

// frame is one read's worth of bytes.
type frame struct {
	due  time.Time
	data []byte
	home *chunk
}

// newDelayLine makes a line that ends when stop is closed.
func newDelayLine(delay time.Duration, stop <-chan struct{}) *delayLine {
	return &delayLine{delay: delay, wake: make(chan struct{}, 1), stop: stop}
}

// fill takes what r gives, one frame per read, until r has an error. It returns that error.
func (l *delayLine) fill(r io.Reader) error {
	home, used := l.newChunk(), 0
	for {
		if chunkSize-used < largestFrame {
			l.release(home)
			home, used = l.newChunk(), 0
		}
		n, err := r.Read(home.data[used : used+largestFrame])
		if err != nil {
			return err
		}
		home.users.Add(1)
		l.add(frame{due: time.Now().Add(l.delay), data: home.data[used : used+n], home: home})
		used += n
	}
}

// drain writes each frame to w when it is due, until stop is closed. A frame that w does not take is lost, as on a wire; lost is
// told why.
func (l *delayLine) drain(w io.Writer, lost func(error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var batch []frame
	for {
		select {
		case <-l.stop:
			return
		case <-l.wake:
		}
		batch = l.take(batch)
		for i, f := range batch {
			if wait := time.Until(f.due); wait > 0 {
				timer.Reset(wait)
				select {
				case <-l.stop:
					return
				case <-timer.C:
				}
			}
			if _, err := w.Write(f.data); err != nil {
				lost(err)
			}
			l.release(f.home)
			batch[i] = frame{}
		}
	}
}

func (l *delayLine) add(f frame) {
	l.mu.Lock()
	l.waiting = append(l.waiting, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // there is a token already
	}
}

// take returns what waits and leaves the slice of the last batch, all passed on, to be filled next.
func (l *delayLine) take(last []frame) []frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.waiting
	l.waiting = last[:0]
	return batch
}

// newChunk returns an empty chunk with the fill as its user.
func (l *delayLine) newChunk() *chunk {
	c, ok := l.chunks.Get().(*chunk)
	if !ok {
		c = new(chunk)
	}
	c.users.Store(1)
	return c
}

// release says that one user of a chunk is done with it.
func (l *delayLine) release(c *chunk) {
	if c.users.Add(-1) == 0 {
		l.chunks.Put(c)
	}
}
