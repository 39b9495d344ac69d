package stream

import (
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"time"
)

// The chunker publishes an incomplete piece when no byte was read for maxIdle, or maxDelay after its first byte.
const (
	maxIdle  = 200 * time.Millisecond
	maxDelay = 400 * time.Millisecond
)

// chunker reads a stream in a goroutine and splits it into pieces. Its methods are not safe for concurrent use.
type chunker struct {
	space  *space
	empty  chan []byte // buffers for the goroutine to fill
	filled chan filled // its results

	reading bool  // the goroutine fills the end of part
	read    int64 // bytes
	err     error // of the stream, io.EOF at its end

	// The bytes read: pieces to publish, and part[start:end] of a block that is being filled.
	pieces        []*piece
	part          []byte
	start, end    int
	first, newest time.Time // times of the first and the last byte of part
}

// filled is the outcome of a Read.
type filled struct {
	n   int
	err error
}

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

// hasRoom reports whether there is a block to fill. It reserves one if possible.
func (c *chunker) hasRoom() bool {
	if c.part == nil && c.err == nil && c.space.reserve(false) {
		c.part = c.space.take()
	}
	return c.part != nil || c.err != nil
}

// more starts a Read, unless the stream has ended.
func (c *chunker) more() {
	if !c.reading && c.err == nil && c.part != nil {
		c.reading = true
		c.empty <- c.part[c.end:]
	}
}

// take adds the result of a Read.
func (c *chunker) take(f filled) {
	c.reading = false
	c.err = f.err
	if f.n > 0 {
		c.newest = time.Now()
		if c.start == c.end {
			c.first = c.newest
		}
	}
	c.read += int64(f.n)
	c.end += f.n
	if c.end == pieceSize && c.start > 0 {
		copy(c.part, c.part[c.start:])
		c.start, c.end = 0, c.end-c.start
	}
	if c.end == pieceSize {
		c.pieces = append(c.pieces, newPiece(c.space, c.part, pieceSize))
		c.part, c.end = nil, 0
		c.first = c.newest
	}
}

// newPiece returns a piece with the first bytes of a block.
func newPiece(s *space, block []byte, size int) *piece {
	return &piece{space: s, size: size, sum: sha256.Sum256(block[:size]), memory: block}
}

// size returns the number of unpublished bytes.
func (c *chunker) size() int64 { return int64(len(c.pieces))*pieceSize + int64(c.end-c.start) }

// due reports whether the incomplete piece is to be published.
func (c *chunker) due() bool {
	return c.end > c.start && (c.err != nil || time.Since(c.newest) >= maxIdle || time.Since(c.first) >= maxDelay)
}

// wait returns the time until due.
func (c *chunker) wait() time.Duration {
	if c.start == c.end || c.due() {
		return time.Hour
	}
	return max(min(maxIdle-time.Since(c.newest), maxDelay-time.Since(c.first)), 0)
}

// failed returns the error of the stream, and io.EOF only once all bytes are published.
func (c *chunker) failed() error {
	if errors.Is(c.err, io.EOF) && c.size() > 0 {
		return nil
	}
	return c.err
}

// cutShort takes the bytes of the incomplete piece. It returns few bytes, and adds more to the pieces, which must be empty.
func (c *chunker) cutShort() (rest []byte) {
	part := c.part[c.start:c.end]
	switch {
	case len(part) <= maxRest:
		rest = slices.Clone(part)
		c.start = c.end
	case c.reading || c.start > 0: // the goroutine fills the rest of the block
		c.space.reserve(true)
		block := c.space.take()
		c.pieces = append(c.pieces, newPiece(c.space, block, copy(block, part)))
		c.start = c.end
	default:
		c.pieces = append(c.pieces, newPiece(c.space, c.part, c.end))
		c.part, c.end = nil, 0
	}
	if !c.reading && c.start == c.end {
		c.start, c.end = 0, 0
	}
	return rest
}
