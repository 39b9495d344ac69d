package coded

import (
	"crypto/ed25519"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// Config says what a Content needs.
type Config struct {
	Disk Disk
	// Swarm is the content id, which signatures are bound to.
	Swarm []byte
	// Key signs the blocks that are made here.
	Key ed25519.PrivateKey
	// Cache is how many whole generations are kept in memory for making blocks of
	// them, at least one.
	Cache int
}

// memory is about what the generations under way take together, in bytes.
const memory = 32 << 20

// Live is how many generations of a coding a node works on at a time.
func Live(c proto.Coding) int { return max(memory/(c.K*c.Block), 4) }

// Cached is how many whole generations of a coding a node keeps for making blocks of
// them. Those who ask work on as many each, and not on the same: to read and hash one for
// each block that is made costs more than all else.
func Cached(c proto.Coding) int { return 2 * Live(c) }

// Content is the coded form of a content. Safe for concurrent use.
type Content struct {
	Disk
	cfg      Config
	encoders encoders
	bytes    atomic.Int64 // of blocks in memory
	room     room

	mu    sync.Mutex
	open  map[int]*generation
	liars map[Key]bool
}

// New is the coded form of a content, of which the store knows what is there.
func New(cfg Config) *Content {
	c := &Content{
		Disk: cfg.Disk, cfg: cfg,
		room: room{size: cfg.Disk.Coding.Block},
		open: map[int]*generation{}, liars: map[Key]bool{},
	}
	c.encoders = newEncoders(c)
	return c
}

// Bytes is how much memory blocks take, those for encoding included.
func (c *Content) Bytes() int64 { return c.bytes.Load() }

// block is memory for a block, which is counted.
func (c *Content) block() []byte {
	c.bytes.Add(int64(c.Coding.Block))
	return c.room.get()
}

// drop takes back blocks that nobody uses any more.
func (c *Content) drop(blocks ...[]byte) {
	c.bytes.Add(-int64(len(blocks) * c.Coding.Block))
	c.room.put(blocks...)
}

// Liars are the nodes that were found to have made false blocks.
func (c *Content) Liars() []Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Key, 0, len(c.liars))
	for k := range c.liars {
		out = append(out, k)
	}
	return out
}

func (c *Content) lies(k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.liars[k]
}

// under is a generation under way, nil when it is not.
func (c *Content) under(number int) *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[number]
}

// begin is a generation under way, begun if need be; nil when it is whole. An error
// is the store's, or a [DamagedError].
func (c *Content) begin(number int) (*generation, error) {
	c.mu.Lock()
	g := c.open[number]
	if g == nil && !c.Has(number) {
		g = &generation{number: number, k: c.Blocks(number), held: map[int]*held{}}
		c.open[number] = g
	}
	c.mu.Unlock()
	if g == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == unprepared {
		return g, c.prepare(g)
	}
	return g, nil
}

// Forget drops what is there of a generation under way, of which a piece was found to
// be damaged: it is gathered anew.
func (c *Content) Forget(generation int) {
	if g := c.under(generation); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.state != decoding {
			c.end(g)
		}
	}
}

// end forgets a generation that is whole. The caller has its lock.
func (c *Content) end(g *generation) {
	c.release(g)
	g.state, g.claims = whole, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, g.number)
}
