package coded

import (
	"crypto/ed25519"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// namedContent is the coded form of a content whose blocks have names and signatures. Safe
// for concurrent use.
type namedContent struct {
	disk
	cfg      namedConfig
	encoders encoders
	memory   blockMemory

	mu      sync.Mutex
	open    map[int]*generation // those under way
	signers signers
}

type namedConfig struct {
	disk disk
	// swarm is the content id. Signatures are bound to it.
	swarm []byte
	// key signs the blocks that the node makes.
	key     ed25519.PrivateKey
	members members
	// cache is how many whole generations are kept in memory for encoding, at least one.
	cache int
}

// liveBytes is about how many bytes the generations under way take together.
const liveBytes = 32 << 20

// Live returns how many generations of a coding a node has under way at a time.
func Live(c proto.Coding) int { return max(liveBytes/(c.K*c.Block), 4) }

// cached returns how many whole generations of a coding a node keeps in memory for
// encoding. Each peer requests blocks of Live generations, and not of the same as others;
// reading and hashing a generation for each block would cost more than all else.
func cached(c proto.Coding) int { return 2 * Live(c) }

func newNamed(cfg namedConfig) *namedContent {
	c := &namedContent{
		disk:    cfg.disk,
		cfg:     cfg,
		memory:  blockMemory{size: cfg.disk.Coding.Block},
		open:    map[int]*generation{},
		signers: signers{map[publicKey]bool{}, cfg.members},
	}
	c.encoders = newEncoders(&c.disk, &c.memory, cfg.cache)
	return c
}

// allPolluters returns the encoders that were found to have signed false blocks.
func (c *namedContent) allPolluters() []publicKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]publicKey, 0, len(c.signers.polluters))
	for k := range c.signers.polluters {
		out = append(out, k)
	}
	return out
}

// admits reports whether a block is taken.
func (c *namedContent) admits(b *namedBlock) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signers.admits(b.encoder, b.sender)
}

// underWay returns a generation under way, nil if it is not.
func (c *namedContent) underWay(number int) *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[number]
}

// begin returns a generation under way, which it begins if necessary. It returns nil if
// the generation is whole. It fails with an error of the store, or a damagedError.
func (c *namedContent) begin(number int) (*generation, error) {
	c.mu.Lock()
	g := c.open[number]
	if g == nil && !c.Has(number) {
		g = &generation{number: number, k: c.Blocks(number), held: map[int]*namedBlock{}}
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

// forget drops the blocks of a generation, of which a piece was found to be damaged. It is
// gathered again from the start.
func (c *namedContent) forget(generation int) {
	c.encoders.drop(generation)
	if g := c.underWay(generation); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.state != decoding {
			c.end(g)
		}
	}
}

// end ends a generation. The caller holds its lock.
func (c *namedContent) end(g *generation) {
	c.release(g)
	g.state, g.claims = whole, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, g.number)
}
