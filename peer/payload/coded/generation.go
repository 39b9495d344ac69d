package coded

import (
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// state is the state of a generation, see the package comment.
type state int

const (
	unprepared state = iota
	gathering
	decoding
	repairing
	ended
)

// generation is an incomplete generation.
type generation struct {
	number, k int
	last      int // content.count at its last block; guarded by the content's lock

	mu      sync.Mutex // guards the following fields
	state   state
	decoder *rlnc.Decoder // while gathering and decoding

	// Of named blocks only:
	held   map[int]*namedBlock // by name; while repairing, the source blocks of incomplete pieces
	claims []claim             // about blocks that were dropped
}

// namedBlock is a block that arrived.
type namedBlock struct {
	payload []byte // not written to while it is held
	origin  proto.Origin
	sender  proto.PeerID
	claim
	checked bool // the signature is valid, and sum is set
}

// content fetches and stores generations of named or of recoded blocks. Safe for concurrent use.
type content struct {
	disk
	encoders encoders
	memory   blockMemory
	most     int // bounds the active generations; 0 is unlimited

	mu     sync.Mutex
	active map[int]*generation // by number
	count  int                 // blocks that arrived
}

// newContent keeps up to cache complete generations in memory for encoding.
func newContent(d disk, cache, most int) *content {
	c := &content{disk: d, memory: blockMemory{size: d.Coding.Block}, most: most, active: map[int]*generation{}}
	c.encoders = newEncoders(&c.disk, &c.memory, cache)
	return c
}

// lookup returns an active generation, nil if there is none with the number.
func (c *content) lookup(number int) *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active[number]
}

// activate returns the generation of a block that arrived, nil if it is complete. If too many are active,
// it drops the one whose last block is the oldest, and returns its number, else -1. It fails with an error
// of the store, or a damagedError.
func (c *content) activate(number int) (g *generation, dropped int, err error) {
	c.mu.Lock()
	c.count++
	g, dropped = c.active[number], -1
	if g == nil && !c.Has(number) {
		dropped = c.surplus()
		g = &generation{number: number, k: c.Blocks(number)}
		c.active[number] = g
	}
	if g != nil {
		g.last = c.count
	}
	c.mu.Unlock()
	if dropped >= 0 && !c.forget(dropped) {
		dropped = -1
	}
	if g == nil {
		return nil, dropped, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == unprepared {
		err = c.prepare(g)
	}
	return g, dropped, err
}

// surplus returns the generation to be dropped before another one, -1 if there is none. The caller holds
// the lock.
func (c *content) surplus() (number int) {
	number = -1
	if c.most == 0 || len(c.active) < c.most {
		return number
	}
	for n, g := range c.active {
		if number < 0 || g.last < c.active[number].last {
			number = n
		}
	}
	return number
}

// prepare gives a generation a decoder with the source blocks of its verified pieces. The caller holds
// its lock.
func (c *content) prepare(g *generation) error {
	d, err := rlnc.NewDecoder(g.k, c.Coding.Block)
	if err != nil {
		return err
	}
	first, end := c.Pieces(g.number)
	for piece := first; piece < end; piece++ {
		if !c.Store.Has(piece) {
			continue
		}
		if err := c.addPiece(d, piece); err != nil {
			return err
		}
	}
	g.decoder, g.state = d, gathering
	g.held = map[int]*namedBlock{}
	return nil
}

// addPiece adds the source blocks of a verified piece to a decoder.
func (c *content) addPiece(d *rlnc.Decoder, piece int) error {
	blocks := make([][]byte, c.Blocks(c.GenerationOf(piece)))
	name, end := c.namesOf(piece)
	for i := name; i < end; i++ {
		blocks[i] = make([]byte, c.Coding.Block)
	}
	if err := c.ReadPiece(piece, c.Parts(piece, blocks)...); err != nil {
		return err
	}
	for v := make([]byte, len(blocks)); name < end; name++ {
		rlnc.Named(v, name)
		if _, err := d.Add(rlnc.Block{Vector: v, Payload: blocks[name]}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a copy of a block to a generation, and returns it, nil if the block is not linearly independent.
// The caller holds the generation's lock.
func (c *content) add(g *generation, vector, payload []byte) (own []byte, err error) {
	innovative, err := g.decoder.Innovative(vector)
	if err != nil || !innovative {
		return nil, err
	}
	own = c.memory.get()
	copy(own, payload)
	_, err = g.decoder.Add(rlnc.Block{Vector: vector, Payload: own})
	return own, err
}

// decode decodes a full generation, stores the pieces that match their hashes, and reports whether all
// do. The caller holds the generation's lock, which is released during the decoding.
func (c *content) decode(g *generation) (good bool, err error) {
	solution, err := g.decoder.Solution()
	if err != nil {
		return false, err
	}
	g.state = decoding
	g.mu.Unlock()
	blocks := c.memory.getAll(g.k)
	err = solution.Decode(blocks)
	if err == nil {
		good, err = c.StoreGood(g.number, blocks)
	}
	g.mu.Lock()
	if err == nil && good {
		c.Pad(g.number, blocks)
		err = c.encoders.add(g.number, blocks) // before end: blocks can be made at any time
	}
	if err != nil || !good {
		c.memory.free(blocks...)
		return false, err
	}
	named := g.held
	c.end(g)
	for _, b := range named {
		c.memory.free(b.payload)
	}
	return true, nil
}

// forget drops the blocks of a generation, which is gathered again from the start, unless they are being decoded. It reports whether
// it has dropped some.
func (c *content) forget(generation int) bool {
	c.encoders.drop(generation)
	g := c.lookup(generation)
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == decoding || g.state == ended {
		return false
	}
	c.end(g)
	return true
}

// end ends a generation. The caller holds its lock.
func (c *content) end(g *generation) {
	g.state, g.decoder, g.held, g.claims = ended, nil, nil, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active[g.number] == g {
		delete(c.active, g.number)
	}
}
