package coded

import "crypto/sha256"

// startRepair drops the blocks of a generation that failed its hashes, and keeps the claims about them.
// Its source blocks are fetched next. out.numbers becomes the blocks of verified pieces. The caller
// holds the generation's lock.
func (c *namedContent) startRepair(g *generation, out *outcome) {
	for _, b := range g.held {
		g.claims = append(g.claims, b.claim)
	}
	g.state, g.decoder, g.held = repairing, nil, map[int]*namedBlock{}
	out.verdict, out.numbers = polluted, nil
	for piece, end := c.Pieces(g.number); piece < end; piece++ {
		if c.Store.Has(piece) { // the corrupt blocks did not matter to it, or it was stored before
			out.numbers = append(out.numbers, c.numbersOf(piece)...)
		}
	}
}

// repair adds a source block to a generation that failed its hashes, and verifies its piece once that is
// complete. The caller holds the generation's lock.
func (c *namedContent) repair(g *generation, b *namedBlock, out *outcome) error {
	switch {
	case !c.check(g.number, b):
		out.verdict, out.faults = invalid, []fault{{c.number(g.number, b.name), b.sender}}
		return nil
	case b.name >= g.k:
		out.verdict = ignored
		return nil
	}
	piece := c.pieceOf(g.number, b.name)
	if c.Store.Has(piece) {
		return nil
	}
	own := c.memory.get()
	copy(own, b.payload)
	b.payload = own
	g.held[b.name] = b
	g.claims = append(g.claims, b.claim)
	out.verdict = held
	blocks := make([][]byte, g.k)
	first, end := c.namesOf(piece)
	for name := first; name < end; name++ {
		if g.held[name] == nil {
			return nil
		}
		blocks[name] = g.held[name].payload
	}
	for name := first; name < end; name++ {
		delete(g.held, name)
	}
	defer c.memory.free(blocks[first:end]...)
	out.numbers = c.numbersOf(piece)
	parts := c.Parts(piece, blocks)
	if !c.verifier.Good(piece, parts...) {
		out.verdict = pieceFailed
		return nil
	}
	out.verdict = pieceStored
	if err := c.StorePiece(piece, parts...); err != nil || !c.Has(g.number) {
		return err
	}
	return c.finishRepair(g, out)
}

// finishRepair ends a repair whose pieces are all stored, and finds the polluters: each block can be
// made now, and be compared with the claims. The caller holds the generation's lock.
func (c *namedContent) finishRepair(g *generation, out *outcome) error {
	out.verdict, out.numbers = decoded, nil
	b := make([]byte, c.Coding.Block)
	err := c.encoders.use(g.number, func(e *encoder) error {
		for _, cl := range g.claims {
			if err := e.encode(b, cl.name); err != nil {
				return err
			}
			if sha256.Sum256(b) != cl.sum {
				c.addPolluter(out, cl.encoder)
			}
		}
		return nil
	})
	if err == nil {
		c.end(g)
	}
	return err
}
