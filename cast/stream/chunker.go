package stream

import (
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"time"
)

// idle is how long the chunker waits for more of a stream, and late how long at all, before it cuts a piece
// short.
const (
	idle = 200 * time.Millisecond
	late = 400 * time.Millisecond
)

// chunker reads a stream and cuts it into pieces. A goroutine reads. The rest is not safe for concurrent use.
type chunker struct {
	space  *space
	empty  chan []byte // what the goroutine is to fill
	filled chan filled // what it has read

	reading bool  // the goroutine fills the end of part
	read    int64 // bytes
	err     error // of the stream, io.EOF at its end

	// What was read: pieces that are to be published, and part[begin:end] of a block that is being filled.
	whole         []*piece
	part          []byte
	begin, end    int
	first, newest time.Time // when the first and the last byte of part came
}

// filled is the outcome of a Read.
type filled struct {
	n   int
	err error
}

// newChunker begins to wait for blocks to fill.
func newChunker(s *space, r io.Reader) *chunker {
	c := &chunker{space: s, empty: make(chan []byte, 1), filled: make(chan filled, 1)}
	go func() {
		for p := range c.empty {
			n, err := r.Read(p)
			c.filled <- filled{n, err}
		}
	}()
	return c
}

// stop ends the goroutine, once its Read returns.
func (c *chunker) stop() { close(c.empty) }

// hasRoom reports whether a block is there to be filled. It takes one if it can.
func (c *chunker) hasRoom() bool {
	if c.part == nil && c.err == nil && c.space.reserve(false) {
		c.part = c.space.take()
	}
	return c.part != nil || c.err != nil
}

// more reads on, unless the stream has ended.
func (c *chunker) more() {
	if !c.reading && c.err == nil && c.part != nil {
		c.reading = true
		c.empty <- c.part[c.end:]
	}
}

// take takes in what was read.
func (c *chunker) take(f filled) {
	c.reading = false
	c.err = f.err
	if f.n > 0 {
		c.newest = time.Now()
		if c.begin == c.end {
			c.first = c.newest
		}
	}
	c.read += int64(f.n)
	c.end += f.n
	if c.end == pieceSize && c.begin > 0 {
		copy(c.part, c.part[c.begin:])
		c.begin, c.end = 0, c.end-c.begin
	}
	if c.end == pieceSize {
		c.whole = append(c.whole, newPiece(c.space, c.part, pieceSize))
		c.part, c.end = nil, 0
		c.first = c.newest
	}
}

// newPiece is a piece of size bytes of a block.
func newPiece(s *space, block []byte, size int) *piece {
	return &piece{space: s, size: size, sum: sha256.Sum256(block[:size]), memory: block}
}

// size returns how many bytes are not cut.
func (c *chunker) size() int64 { return int64(len(c.whole))*pieceSize + int64(c.end-c.begin) }

// due reports whether the part of a piece that is there is to be cut, however little it is.
func (c *chunker) due() bool {
	return c.end > c.begin && (c.err != nil || time.Since(c.newest) >= idle || time.Since(c.first) >= late)
}

// wait returns the time until that is so, unless something happens.
func (c *chunker) wait() time.Duration {
	if c.begin == c.end || c.due() {
		return time.Hour
	}
	return max(min(idle-time.Since(c.newest), late-time.Since(c.first)), 0)
}

// failed returns the error of the stream. It returns io.EOF once all was cut.
func (c *chunker) failed() error {
	if errors.Is(c.err, io.EOF) && c.size() > 0 {
		return nil
	}
	return c.err
}

// cutShort cuts the part of a piece that is there. It returns the bytes if they are few, or else adds them to
// the pieces, of which there must be none.
func (c *chunker) cutShort() (rest []byte) {
	part := c.part[c.begin:c.end]
	switch {
	case len(part) <= maxRest:
		rest = slices.Clone(part)
		c.begin = c.end
	case c.reading || c.begin > 0: // the rest of the block is being filled
		c.space.reserve(true)
		block := c.space.take()
		c.whole = append(c.whole, newPiece(c.space, block, copy(block, part)))
		c.begin = c.end
	default:
		c.whole = append(c.whole, newPiece(c.space, c.part, c.end))
		c.part, c.end = nil, 0
	}
	if !c.reading && c.begin == c.end {
		c.begin, c.end = 0, 0
	}
	return rest
}
