package stream

import (
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"time"
)

const (
	// interval is about how much of the stream a segment has, in time, and idle how long the cutter
	// waits for more before it cuts a segment short.
	interval = 500 * time.Millisecond
	idle     = 250 * time.Millisecond
)

// cutter reads a stream into blocks, hashes them, and cuts segments. A goroutine reads. The rest is not
// safe for concurrent use.
type cutter struct {
	space  *space
	empty  chan []byte // what the goroutine is to fill
	filled chan filled // what it has read

	reading bool  // the goroutine fills the end of part
	read    int64 // bytes
	err     error // of the stream, io.EOF at its end

	// What was read and is not cut: whole blocks, their hashes, and part[begin:end] of a block that is
	// being filled.
	blocks        [][]byte
	hashes        []byte
	part          []byte
	begin, end    int
	first, newest time.Time // when the first and the last byte of it came
}

// filled is the outcome of a Read.
type filled struct {
	n   int
	err error
}

// newCutter begins to wait for blocks to fill.
func newCutter(s *space, r io.Reader) *cutter {
	c := &cutter{space: s, empty: make(chan []byte, 1), filled: make(chan filled, 1)}
	go func() {
		for p := range c.empty {
			n, err := r.Read(p)
			c.filled <- filled{n, err}
		}
	}()
	return c
}

// stop ends the goroutine, once its Read returns.
func (c *cutter) stop() { close(c.empty) }

// hasRoom reports whether a block is there to be filled. It takes one if it can.
func (c *cutter) hasRoom() bool {
	if c.part == nil && c.err == nil {
		if b := c.space.take(1, false); b != nil {
			c.part = b[0]
		}
	}
	return c.part != nil || c.err != nil
}

// more reads on, unless the stream has ended.
func (c *cutter) more() {
	if !c.reading && c.err == nil && c.part != nil {
		c.reading = true
		c.empty <- c.part[c.end:]
	}
}

// take takes in what was read.
func (c *cutter) take(f filled) {
	c.reading = false
	c.err = f.err
	if f.n > 0 {
		c.newest = time.Now()
		if c.size() == 0 {
			c.first = c.newest
		}
	}
	c.read += int64(f.n)
	c.end += f.n
	if c.end == blockSize && c.begin > 0 {
		copy(c.part, c.part[c.begin:])
		c.begin, c.end = 0, c.end-c.begin
	}
	if c.end == blockSize {
		c.push(c.part)
		c.part, c.end = nil, 0
	}
}

// push adds a block, of which the length is what it has.
func (c *cutter) push(b []byte) {
	sum := sha256.Sum256(b)
	c.hashes = append(c.hashes, sum[:]...)
	c.blocks = append(c.blocks, b[:blockSize])
}

// size returns how many bytes are not cut.
func (c *cutter) size() int64 { return int64(len(c.blocks))*blockSize + int64(c.end-c.begin) }

// due reports whether what is there is to be cut, however little it is.
func (c *cutter) due() bool {
	return c.size() > 0 && (c.err != nil || time.Since(c.newest) >= idle || time.Since(c.first) >= interval)
}

// wait returns the time until that is so, unless something happens.
func (c *cutter) wait() time.Duration {
	if c.size() == 0 || c.due() {
		return time.Hour
	}
	return max(min(idle-time.Since(c.newest), interval-time.Since(c.first)), 0)
}

// failed returns the error of the stream. It returns io.EOF once all was cut.
func (c *cutter) failed() error {
	if errors.Is(c.err, io.EOF) && c.size() > 0 {
		return nil
	}
	return c.err
}

// cut cuts a segment of at most a number of bytes, which is a multiple of a block, off what is there.
// It returns the hashes of the segment's blocks.
func (c *cutter) cut(most int64) (*content, []byte) {
	length := c.size()
	if length <= most && c.end > c.begin {
		part := c.part[c.begin:c.end]
		if c.reading || c.begin > 0 { // the rest of the block is being filled
			part = c.space.take(1, true)[0][:len(part)]
			copy(part, c.part[c.begin:c.end])
			c.begin = c.end
		} else {
			c.part, c.end = nil, 0
		}
		c.push(part)
	}
	n := min(len(c.blocks), int(most/blockSize))
	segment := newContent(c.space, min(length, int64(n)*blockSize), slices.Clone(c.blocks[:n]))
	hashes := slices.Clone(c.hashes[:n*sha256.Size])
	c.blocks = slices.Delete(c.blocks, 0, n)
	c.hashes = slices.Delete(c.hashes, 0, n*sha256.Size)
	c.first = time.Now() // what is left is not late
	return segment, hashes
}
