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
	room   chan int    // the most bytes of the next Read, for the goroutine
	filled chan filled // its results

	reading bool  // the goroutine reads at most what part has room for
	read    int64 // bytes
	err     error // of the stream, io.EOF at its end

	// The bytes read: pieces to publish, and an incomplete piece in a block.
	pieces        []*piece
	part          []byte    // nil without a block
	first, newest time.Time // times of the first and the last byte of part
}

// filled is the outcome of a Read.
type filled struct {
	bytes []byte // until the next Read
	err   error
}

func newChunker(s *space, r io.Reader) *chunker {
	c := &chunker{space: s, room: make(chan int, 1), filled: make(chan filled, 1)}
	go func() {
		buf := make([]byte, pieceSize)
		for room := range c.room {
			n, err := r.Read(buf[:room])
			c.filled <- filled{buf[:n], err}
		}
	}()
	return c
}

// stop ends the goroutine, once its Read returns.
func (c *chunker) stop() { close(c.room) }

// hasRoom reports whether there is a block to fill. It reserves one if possible.
func (c *chunker) hasRoom() bool {
	if c.part == nil && c.err == nil && c.space.reserve(false) {
		c.part = c.space.take()[:0]
	}
	return c.part != nil || c.err != nil
}

// more starts a Read, unless the stream has ended.
func (c *chunker) more() {
	if !c.reading && c.err == nil && c.part != nil {
		c.reading = true
		c.room <- pieceSize - len(c.part)
	}
}

// take adds the result of a Read.
func (c *chunker) take(f filled) {
	c.reading = false
	c.err = f.err
	if len(f.bytes) > 0 {
		c.newest = time.Now()
		if len(c.part) == 0 {
			c.first = c.newest
		}
	}
	c.read += int64(len(f.bytes))
	if c.part = append(c.part, f.bytes...); len(c.part) == pieceSize {
		c.finish()
	}
}

// finish adds the incomplete piece to the pieces.
func (c *chunker) finish() {
	c.pieces = append(c.pieces, newPiece(c.space, c.part))
	c.part = nil
}

// newPiece returns a piece with the bytes of part, which is in a block.
func newPiece(s *space, part []byte) *piece {
	return &piece{space: s, size: len(part), sum: sha256.Sum256(part), memory: part[:pieceSize]}
}

// size returns the number of unpublished bytes.
func (c *chunker) size() int64 { return int64(len(c.pieces))*pieceSize + int64(len(c.part)) }

// due reports whether the incomplete piece is to be published.
func (c *chunker) due() bool {
	return len(c.part) > 0 && (c.err != nil || time.Since(c.newest) >= maxIdle || time.Since(c.first) >= maxDelay)
}

// wait returns the time until due.
func (c *chunker) wait() time.Duration {
	if len(c.part) == 0 || c.due() {
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
	if len(c.part) <= maxRest {
		rest = slices.Clone(c.part)
		c.part = c.part[:0]
		return rest
	}
	c.finish()
	if c.reading { // what it reads needs a block
		c.space.reserve(true)
		c.part = c.space.take()[:0]
	}
	return nil
}
