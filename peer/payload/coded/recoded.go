package coded

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// In permutation gossip two generations go round at a time.
const (
	// maxGathered bounds the generations that are gathered at a time. Blocks of a third
	// may still come from nodes that have not gone on to the next.
	maxGathered = 3
	// maxKept is how many whole generations are kept in memory.
	maxKept = 2
)

// recodedContent is the coded form of a content for permutation gossip. Safe for
// concurrent use.
type recodedContent struct {
	disk
	bytes atomic.Int64 // of blocks in memory

	mu    sync.Mutex
	open  map[int]*recodedGeneration // those that are gathered
	whole []*wholeGeneration         // in the order of their last use
	rng   *rand.Rand
	count int // of blocks that came
}

// recodedGeneration is a generation that is gathered.
type recodedGeneration struct {
	number int

	mu      sync.Mutex // guards what follows
	decoder *rlnc.Decoder
	buf     []byte // for the payloads
	last    int    // recodedContent.count at its last block; guarded by the content's lock
}

// wholeGeneration is a whole generation in memory.
type wholeGeneration struct {
	number  int
	buf     []byte
	encoder *rlnc.Encoder
}

func newRecoded(d disk) *recodedContent {
	return &recodedContent{
		disk: d,
		open: map[int]*recodedGeneration{},
		rng:  rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
}

// plain reports whether source blocks are sent as they are, not combined.
func (c *recodedContent) plain() bool { return c.Coding.Strategy == proto.RandomBlock }

// frame returns the length in bytes of a block of a generation with its coefficients.
func (c *recodedContent) frame(generation int) int { return c.Blocks(generation) + c.Coding.Block }

// buffer returns memory for the source blocks of a generation, and counts it.
func (c *recodedContent) buffer(generation int) []byte {
	n := c.Blocks(generation) * c.Coding.Block
	c.bytes.Add(int64(n))
	return make([]byte, n)
}

func (c *recodedContent) release(buf []byte) { c.bytes.Add(-int64(len(buf))) }

// split cuts a buffer into blocks.
func (c *recodedContent) split(buf []byte) [][]byte {
	blocks := make([][]byte, len(buf)/c.Coding.Block)
	for i := range blocks {
		blocks[i] = buf[i*c.Coding.Block : (i+1)*c.Coding.Block : (i+1)*c.Coding.Block]
	}
	return blocks
}
