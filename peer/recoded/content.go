package recoded

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Two generations go round at a time.
const (
	// Live is how many are gathered at a time: one more may still come, by an older
	// order.
	Live = 3
	// Kept is how many whole ones are kept in memory.
	Kept = 2
)

// ErrAbsent says that there is nothing of a generation.
var ErrAbsent = errors.New("nothing of the generation is here")

// DamagedError says that a piece which was verified is not what it was.
type DamagedError struct {
	Piece int
	Err   error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("piece %d: %v", e.Piece, e.Err) }

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

var errChanged = errors.New("its hash has changed")

// Ledger knows which pieces are verified and committed. Its methods may be called
// from any goroutine, and do not block.
type Ledger interface {
	Has(piece uint32) bool
	Add(piece uint32)
}

// Config says what a Content needs.
type Config struct {
	Manifest *proto.Manifest
	Coding   proto.Coding
	Store    store.Store
	// Ledger is asked which pieces are verified, and told of those that are.
	Ledger Ledger
}

// Content is the coded form of a content. Safe for concurrent use.
type Content struct {
	cfg   Config
	m     *proto.Manifest
	k, b  int
	bytes atomic.Int64 // of blocks in memory

	mu    sync.Mutex
	open  map[int]*generation // under way
	whole []*source           // the last used last
	rng   *rand.Rand
	count int // blocks taken in
}

// New is the coded form of a content, of which the ledger knows what is there.
func New(cfg Config) *Content {
	return &Content{
		cfg: cfg, m: cfg.Manifest, k: cfg.Coding.K, b: cfg.Coding.Block,
		open: map[int]*generation{}, rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
}

// Generations is how many there are.
func (c *Content) Generations() int { return (c.blocks() + c.k - 1) / c.k }

// Blocks is how many source blocks a generation has.
func (c *Content) Blocks(generation int) int { return min(c.k, c.blocks()-generation*c.k) }

func (c *Content) blocks() int { return int((c.m.Length() + int64(c.b) - 1) / int64(c.b)) }

// Frame is how many bytes a block of a generation has with its coefficients.
func (c *Content) Frame(generation int) int { return c.Blocks(generation) + c.b }

// Of is the generation of a piece.
func (c *Content) Of(piece int) int { return piece / c.perGeneration() }

func (c *Content) perGeneration() int { return c.k * c.b / int(c.m.PieceLength) }

// pieces are those of a generation, from first on.
func (c *Content) pieces(generation int) (first, end int) {
	first = generation * c.perGeneration()
	return first, min(first+c.perGeneration(), c.m.Pieces())
}

// size is how many bytes of the content a generation has.
func (c *Content) size(generation int) int {
	begin := int64(generation) * int64(c.k*c.b)
	return int(min(int64(c.k*c.b), c.m.Length()-begin))
}

// Has says whether a generation is whole: verified and stored.
func (c *Content) Has(generation int) bool {
	first, end := c.pieces(generation)
	for i := first; i < end; i++ {
		if !c.cfg.Ledger.Has(uint32(i)) {
			return false
		}
	}
	return first < end
}

// Bytes is how much memory blocks take.
func (c *Content) Bytes() int64 { return c.bytes.Load() }

// buffer is room for the source blocks of a generation, which is counted.
func (c *Content) buffer(generation int) []byte {
	n := c.Blocks(generation) * c.b
	c.bytes.Add(int64(n))
	return make([]byte, n)
}

func (c *Content) release(b []byte) { c.bytes.Add(-int64(len(b))) }

// split cuts a buffer into blocks.
func (c *Content) split(b []byte) [][]byte {
	blocks := make([][]byte, len(b)/c.b)
	for i := range blocks {
		blocks[i] = b[i*c.b : (i+1)*c.b : (i+1)*c.b]
	}
	return blocks
}

// store stores the pieces of a decoded generation, if all are right.
func (c *Content) store(generation int, b []byte) (good bool, err error) {
	first, end := c.pieces(generation)
	at := func(piece int) []byte {
		from := (piece - first) * int(c.m.PieceLength)
		return b[from : from+c.m.PieceSize(piece)]
	}
	for piece := first; piece < end; piece++ {
		if sha256.Sum256(at(piece)) != c.m.Hash(piece) {
			return false, nil
		}
	}
	for piece := first; piece < end; piece++ {
		if c.cfg.Ledger.Has(uint32(piece)) {
			continue
		}
		if _, err := c.cfg.Store.WriteAt(at(piece), c.m.PieceOffset(piece)); err != nil {
			return false, err
		}
		if err := c.cfg.Store.Commit(piece); err != nil {
			return false, err
		}
		c.cfg.Ledger.Add(uint32(piece))
	}
	return true, nil
}
