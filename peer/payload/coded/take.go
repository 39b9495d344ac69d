package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// take adds a requested block to its generation, and decodes that once it can, which takes
// long. It does not keep data. It fails with an error of the store, or a damagedError.
//
// While a generation is gathered no signature is checked: if its pieces match their hashes
// all blocks were good. A signature is checked before the block is passed on, and when
// hashes do not match.
func (c *namedContent) take(number uint32, sender proto.PeerID, o *proto.Origin, data []byte) (outcome, error) {
	generation, name := c.of(number)
	out := outcome{generation: generation}
	if generation >= c.Generations() || len(data) != c.Coding.Block {
		out.verdict = invalid
		return out, nil
	}
	g, err := c.begin(generation)
	if g == nil || err != nil {
		return out, err
	}
	b := &namedBlock{payload: data, origin: *o, sender: sender, claim: claim{name: name, encoder: o.Encoder}}
	if !c.admits(b) {
		if !g.holds(name) {
			out.verdict = refused
		}
		return out, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[name] != nil || g.state == whole {
		return out, nil
	}
	switch g.state {
	case gathering:
		err = c.gather(g, b, &out)
	case repairing:
		if !c.check(generation, b) {
			out.verdict = invalid
			return out, nil
		}
		err = c.repair(g, b, &out)
	default:
		out.verdict = ignored
		return out, nil
	}
	return out, err
}

// holds reports whether the block of a name is held.
func (g *generation) holds(name int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[name] != nil
}

// gather adds a block to a generation, and decodes that once it can. The caller holds its
// lock, which decoding releases meanwhile.
func (c *namedContent) gather(g *generation, b *namedBlock, out *outcome) error {
	v := make([]byte, g.k)
	rlnc.Named(v, b.name)
	innovative, err := g.decoder.Innovative(v)
	if err != nil {
		return err
	}
	if !innovative {
		out.verdict = useless
		return nil
	}
	own := c.memory.get()
	copy(own, b.payload)
	b.payload = own
	if _, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload}); err != nil {
		return err
	}
	g.held[b.name] = b
	if b.name < g.k {
		g.source[b.name] = b.payload
	}
	out.verdict = held
	if !g.decoder.Full() {
		return nil
	}
	return c.decode(g, out)
}

// decode decodes a generation and commits the pieces that match their hashes. The caller
// holds the lock of the generation, which is released meanwhile: its blocks are passed on
// as before.
func (c *namedContent) decode(g *generation, out *outcome) error {
	solution, err := g.decoder.Solution()
	if err != nil {
		return err
	}
	g.state = decoding
	g.mu.Unlock()
	blocks, made, err := c.solve(g.source, solution)
	var good bool
	if err == nil {
		good, err = c.StoreGood(g.number, blocks)
	}
	g.mu.Lock()
	if err != nil {
		return err
	}
	if !good {
		c.memory.free(made...)
		if forged := c.forged(g); len(forged) > 0 {
			return c.purge(g, forged, out)
		}
		out.verdict = polluted
		c.suspectAll(g, out)
		return nil
	}
	var spare [][]byte
	for name, b := range g.held {
		if name >= g.k {
			spare = append(spare, b.payload)
		}
	}
	c.end(g)
	c.memory.recycle(spare...)
	// The source blocks that arrived belong to the encoder now.
	c.memory.count(len(blocks) - len(made))
	c.Pad(g.number, blocks)
	out.verdict = decoded
	return c.encoders.add(g.number, blocks)
}

// solve returns the source blocks of a generation: those that arrived, and the others,
// decoded.
func (c *namedContent) solve(source [][]byte, s *rlnc.Solution) (blocks, made [][]byte, err error) {
	blocks, wanted := slices.Clone(source), make([][]byte, len(source))
	for i, b := range blocks {
		if b == nil {
			blocks[i] = c.memory.get()
			wanted[i], made = blocks[i], append(made, blocks[i])
		}
	}
	return blocks, made, s.Decode(wanted)
}
