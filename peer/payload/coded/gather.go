package coded

import (
	"github.com/mobgrid/mob/mob/rlnc"
)

// recodedOutcome is what became of a block of permutation gossip.
type recodedOutcome struct {
	verdict verdict
	// block is the source block that it is, -1 for a combination.
	block int
	// dropped is a generation that was dropped to make room, -1 for none.
	dropped int
}

// take adds a block, coefficients and payload, to its generation. It does not keep data.
func (c *recodedContent) take(number int, data []byte) (recodedOutcome, error) {
	out := recodedOutcome{verdict: invalid, block: -1, dropped: -1}
	if number < 0 || number >= c.Generations() || len(data) != c.frame(number) {
		return out, nil
	}
	k := c.Blocks(number)
	vector, payload := data[:k], data[k:]
	terms, block := termsOf(vector)
	out.block = block
	if terms == 0 || c.plain() && block < 0 {
		return out, nil
	}
	g, err := c.begin(number, &out)
	if g == nil || err != nil {
		out.verdict = ignored
		return out, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	innovative, err := g.decoder.Innovative(vector)
	if err != nil || !innovative {
		out.verdict = useless
		return out, err
	}
	at := g.decoder.Rank() * c.Coding.Block
	own := g.buf[at : at+c.Coding.Block : at+c.Coding.Block]
	copy(own, payload)
	if _, err := g.decoder.Add(rlnc.Block{Vector: vector, Payload: own}); err != nil {
		return out, err
	}
	out.verdict = held
	if g.decoder.Full() {
		out.verdict = full
	}
	return out, nil
}

// termsOf returns how many source blocks a combination has, and which one it is if it is a
// source block as it stands, -1 otherwise.
func termsOf(vector []byte) (terms, block int) {
	block = -1
	for i, x := range vector {
		if x == 0 {
			continue
		}
		terms++
		if terms == 1 && x == 1 {
			block = i
		} else {
			block = -1
		}
	}
	return terms, block
}

// begin returns a generation that is gathered, which it begins if necessary. It returns nil
// if the generation is whole.
func (c *recodedContent) begin(number int, out *recodedOutcome) (*recodedGeneration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	g := c.open[number]
	if g == nil && !c.Has(number) {
		d, err := rlnc.NewDecoder(c.Blocks(number), c.Coding.Block)
		if err != nil {
			return nil, err
		}
		if len(c.open) >= maxGathered {
			out.dropped = c.dropOldest()
		}
		c.memory.count(c.Blocks(number))
		g = &recodedGeneration{number: number, decoder: d, buf: make([]byte, c.Blocks(number)*c.Coding.Block)}
		c.open[number] = g
	}
	if g != nil {
		g.last = c.count
	}
	return g, nil
}

// dropOldest drops the generation of which no block came for the longest time: others have
// gone on to later ones. The caller holds the lock.
func (c *recodedContent) dropOldest() int {
	var oldest *recodedGeneration
	for _, g := range c.open {
		if oldest == nil || g.last < oldest.last {
			oldest = g
		}
	}
	c.end(oldest)
	return oldest.number
}

// end drops a generation that is gathered. The caller holds the lock.
func (c *recodedContent) end(g *recodedGeneration) {
	if c.open[g.number] == g {
		delete(c.open, g.number)
		c.memory.count(-c.Blocks(g.number))
	}
}

// decode decodes a full generation and commits its pieces if all match their hashes.
// Otherwise it drops the generation. It takes long; blocks of the generation are sent
// meanwhile. Errors are the store's.
func (c *recodedContent) decode(number int) (good bool, err error) {
	c.mu.Lock()
	g := c.open[number]
	c.mu.Unlock()
	if g == nil {
		return false, nil // dropped
	}
	solution, err := g.decoder.Solution() // without the lock: nothing is added to what is full
	if err != nil {
		return false, err
	}
	blocks := c.memory.getAll(c.Blocks(number))
	if err = solution.Decode(blocks); err == nil {
		good, err = c.storeAll(number, blocks)
	}
	if err == nil && good {
		c.Pad(number, blocks)
		err = c.encoders.add(number, blocks) // before end, so that blocks can be made all the time
	}
	if err != nil || !good {
		c.memory.free(blocks...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(g)
	return good && err == nil, err
}

// storeAll stores the pieces of a decoded generation if all match their hashes.
func (c *recodedContent) storeAll(generation int, blocks [][]byte) (good bool, err error) {
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

// forget drops the generation of a damaged piece from memory, and returns its number.
func (c *recodedContent) forget(piece int) (generation int) {
	generation = c.GenerationOf(piece)
	c.encoders.drop(generation)
	return generation
}
