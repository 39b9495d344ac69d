package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// From is where a block came from.
type From struct {
	Sender proto.PeerID
	// Origin says who made and signed the block.
	Origin proto.Origin
}

// Take takes in a block that was asked for, of which the payload stays the caller's, and
// the origin does not. It
// decodes the generation when that is possible, which takes long. An error is the
// store's, or a [DamagedError].
//
// While a generation is gathered no signature is looked at: if it decodes to pieces that
// have their hashes, all was right. It is checked before the block is passed on, and when
// the hashes are wrong.
func (c *Content) Take(number uint32, from From, payload []byte) (Outcome, error) {
	generation, name := c.Of(number)
	out := Outcome{Generation: generation}
	if generation >= c.Generations() || len(payload) != c.Coding.Block {
		out.Verdict = Forged
		return out, nil
	}
	g, err := c.begin(generation)
	if g == nil || err != nil {
		return out, err
	}
	b := &held{payload: payload, origin: from.Origin, sender: from.Sender, claim: claim{name: name, author: from.Origin.Encoder}}
	if c.lies(b.author) {
		if out.Verdict = Refused; g.holds(name) {
			out.Verdict = Duplicate
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
		return out, c.gather(g, b, &out)
	case repairing:
		if !c.check(generation, b) {
			out.Verdict = Forged
			return out, nil
		}
		return out, c.repair(g, b, &out)
	}
	out.Verdict = Ignored
	return out, nil
}

// holds says whether there is a block of this name.
func (g *generation) holds(name int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[name] != nil
}

// gather adds a block to those of a generation, and decodes it with the last. The
// caller has its lock, which is let go of meanwhile.
func (c *Content) gather(g *generation, b *held, out *Outcome) error {
	v := make([]byte, g.k)
	rlnc.Named(v, b.name)
	news, err := g.decoder.Innovative(v)
	if err != nil {
		return err
	}
	if out.Verdict = Useless; !news {
		return nil
	}
	own := c.block()
	copy(own, b.payload)
	b.payload = own
	if _, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload}); err != nil {
		return err
	}
	g.held[b.name] = b
	if b.name < g.k {
		g.source[b.name] = b.payload
	}
	if out.Verdict = Held; !g.decoder.Full() {
		return nil
	}
	return c.decode(g, out)
}

// decode makes pieces of a generation that can be decoded, and stores those that are
// good. The caller has the generation's lock, which is let go of meanwhile: its blocks
// are passed on as before.
func (c *Content) decode(g *generation, out *Outcome) error {
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
		c.drop(made...)
		if forged := c.forged(g); len(forged) > 0 {
			return c.purge(g, forged, out)
		}
		out.Verdict = Polluted
		c.suspect(g, out)
		return nil
	}
	var spare [][]byte
	for name, b := range g.held {
		if name >= g.k {
			spare = append(spare, b.payload)
		}
	}
	c.end(g)
	c.room.put(spare...)
	c.bytes.Add(int64((len(blocks) - len(made)) * c.Coding.Block)) // those that came are the encoder's now
	c.Pad(g.number, blocks)
	out.Verdict = Decoded
	return c.encoders.add(g.number, blocks)
}

// solve is a generation's source blocks: those that are there, and the others, made.
func (c *Content) solve(source [][]byte, s *rlnc.Solution) (blocks, made [][]byte, err error) {
	blocks, wanted := slices.Clone(source), make([][]byte, len(source))
	for i, b := range blocks {
		if b == nil {
			blocks[i] = c.block()
			wanted[i], made = blocks[i], append(made, blocks[i])
		}
	}
	return blocks, made, s.Decode(wanted)
}
