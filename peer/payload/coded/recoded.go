package coded

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Two generations go round at a time.
const (
	// RecodedLive is how many are gathered at a time: one more may still come, by an older
	// order.
	RecodedLive = 3
	// RecodedKept is how many whole ones are kept in memory.
	RecodedKept = 2
)

// Recoded is the coded form of a content. Safe for concurrent use.
type Recoded struct {
	Disk
	bytes atomic.Int64 // of blocks in memory

	mu    sync.Mutex
	open  map[int]*recodedGeneration // under way
	whole []*source                  // the last used last
	rng   *rand.Rand
	count int // blocks taken in
}

// New is the coded form of a content, of which the store knows what is there.
func NewRecoded(d Disk) *Recoded {
	return &Recoded{
		Disk: d,
		open: map[int]*recodedGeneration{}, rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
}

// Frame is how many bytes a block of a generation has with its coefficients.
func (c *Recoded) Frame(generation int) int { return c.Blocks(generation) + c.Coding.Block }

// Bytes is how much memory blocks take.
func (c *Recoded) Bytes() int64 { return c.bytes.Load() }

// buffer is room for the source blocks of a generation, which is counted.
func (c *Recoded) buffer(generation int) []byte {
	n := c.Blocks(generation) * c.Coding.Block
	c.bytes.Add(int64(n))
	return make([]byte, n)
}

func (c *Recoded) release(b []byte) { c.bytes.Add(-int64(len(b))) }

// split cuts a buffer into blocks.
func (c *Recoded) split(b []byte) [][]byte {
	blocks := make([][]byte, len(b)/c.Coding.Block)
	for i := range blocks {
		blocks[i] = b[i*c.Coding.Block : (i+1)*c.Coding.Block : (i+1)*c.Coding.Block]
	}
	return blocks
}

// storeAll stores the pieces of a decoded generation, if all are right.
func (c *Recoded) storeAll(generation int, blocks [][]byte) (good bool, err error) {
	first, end := c.Pieces(generation)
	for piece := first; piece < end; piece++ {
		if !c.Good(piece, c.Parts(piece, blocks)...) {
			return false, nil
		}
	}
	for piece := first; piece < end; piece++ {
		if err := c.StorePiece(piece, c.Parts(piece, blocks)...); err != nil {
			return false, err
		}
	}
	return true, nil
}
