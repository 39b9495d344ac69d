package coded

import (
	"math/rand/v2"
	"sync"

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
	encoders encoders
	memory   blockMemory

	mu    sync.Mutex
	open  map[int]*recodedGeneration // those that are gathered
	rng   *rand.Rand
	count int // of blocks that came
}

// recodedGeneration is a generation that is gathered.
type recodedGeneration struct {
	number int

	mu      sync.Mutex // guards what follows
	decoder *rlnc.Decoder
	buf     []byte // for the payloads, not recycled: a recoder may still read them
	last    int    // recodedContent.count at its last block; guarded by the content's lock
}

func newRecoded(d disk) *recodedContent {
	c := &recodedContent{
		disk:   d,
		memory: blockMemory{size: d.Coding.Block},
		open:   map[int]*recodedGeneration{},
		rng:    rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
	c.encoders = newEncoders(&c.disk, &c.memory, maxKept)
	return c
}

// plain reports whether source blocks are sent as they are, not combined.
func (c *recodedContent) plain() bool { return c.Coding.Strategy == proto.RandomBlock }

// frame returns the length in bytes of a block of a generation with its coefficients.
func (c *recodedContent) frame(generation int) int { return c.Blocks(generation) + c.Coding.Block }
