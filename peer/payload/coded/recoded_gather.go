package coded

import (
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// recodedGeneration is one under way.
type recodedGeneration struct {
	number int

	mu      sync.Mutex // guards what follows
	decoder *rlnc.Decoder
	room    []byte // for the payloads
	fed     int    // when the last block came, by the count of the content; it has its lock
}

// RecodedOutcome is what became of a block.
type RecodedOutcome struct {
	Verdict Verdict
	// Block is which source block it is, -1 for a combination.
	Block int
	// Dropped is a generation of which nothing is there any more, to make room; -1 for
	// none.
	Dropped int
}

// Take takes in a block: coefficients, and the payload, which stay the caller's.
func (c *Recoded) Take(number int, data []byte) (RecodedOutcome, error) {
	out := RecodedOutcome{Verdict: Malformed, Block: -1, Dropped: -1}
	if number < 0 || number >= c.Generations() || len(data) != c.Frame(number) {
		return out, nil
	}
	k := c.Blocks(number)
	vector, payload := data[:k], data[k:]
	terms, block := termsOf(vector)
	if out.Block = block; terms == 0 || c.plain() && block < 0 {
		return out, nil
	}
	g, err := c.begin(number, &out)
	if out.Verdict = Ignored; g == nil || err != nil {
		return out, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	news, err := g.decoder.Innovative(vector)
	if out.Verdict = Useless; err != nil || !news {
		return out, err
	}
	at := g.decoder.Rank() * c.Coding.Block
	room := g.room[at : at+c.Coding.Block : at+c.Coding.Block]
	copy(room, payload)
	if _, err := g.decoder.Add(rlnc.Block{Vector: vector, Payload: room}); err != nil {
		return out, err
	}
	if out.Verdict = Held; g.decoder.Full() {
		out.Verdict = Last
	}
	return out, nil
}

// plain says that blocks are not combined.
func (c *Recoded) plain() bool { return c.Coding.Strategy == proto.RandomBlock }

// termsOf says of how many source blocks a vector is a sum, and which it is if it is one
// as it stands, -1 otherwise.
func termsOf(vector []byte) (terms, block int) {
	block = -1
	for i, x := range vector {
		if x == 0 {
			continue
		}
		if terms++; terms == 1 && x == 1 {
			block = i
		} else {
			block = -1
		}
	}
	return terms, block
}

// begin is a generation under way, begun if need be; nil when it is whole.
func (c *Recoded) begin(number int, out *RecodedOutcome) (*recodedGeneration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	g := c.open[number]
	if g == nil && !c.Has(number) {
		d, err := rlnc.NewDecoder(c.Blocks(number), c.Coding.Block)
		if err != nil {
			return nil, err
		}
		if len(c.open) >= RecodedLive {
			out.Dropped = c.dropOldest()
		}
		g = &recodedGeneration{number: number, decoder: d, room: c.buffer(number)}
		c.open[number] = g
	}
	if g != nil {
		g.fed = c.count
	}
	return g, nil
}

// dropOldest drops the generation under way that no block came of for longest: what goes
// round is elsewhere by now. The caller has the lock.
func (c *Recoded) dropOldest() int {
	var oldest *recodedGeneration
	for _, g := range c.open {
		if oldest == nil || g.fed < oldest.fed {
			oldest = g
		}
	}
	c.end(oldest)
	return oldest.number
}

// end lets go of a generation under way. The caller has the lock.
func (c *Recoded) end(g *recodedGeneration) {
	if c.open[g.number] == g {
		delete(c.open, g.number)
		c.release(g.room)
	}
}

// Decode makes pieces of a generation of which the last block has come, and stores them
// if they are right. Otherwise all of it is thrown away. It takes long; what has come is
// sent on meanwhile. An error is the store's.
func (c *Recoded) Decode(number int) (good bool, err error) {
	c.mu.Lock()
	g := c.open[number]
	c.mu.Unlock()
	if g == nil {
		return false, nil // dropped
	}
	solution, err := g.decoder.Solution() // nothing is added to what is full
	if err != nil {
		return false, err
	}
	s := &source{number: number, bytes: c.buffer(number)}
	blocks := c.split(s.bytes)
	if err = solution.Decode(blocks); err == nil {
		good, err = c.storeAll(number, blocks)
	}
	if err == nil && good {
		c.Pad(number, blocks)
		s.code, err = rlnc.NewEncoder(blocks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(g)
	if err != nil || !good {
		c.release(s.bytes)
		return false, err
	}
	c.keep(s)
	return true, nil
}

// Forget drops what is in memory of the generation of a piece that was found to be
// damaged.
func (c *Recoded) Forget(piece int) (generation int) {
	generation = c.GenerationOf(piece)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(generation)
	return generation
}
