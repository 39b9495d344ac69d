package coded

import (
	"errors"
	"maps"
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
)

// addPolluter records that an encoder signed a corrupt block.
func (c *namedContent) addPolluter(out *outcome, encoder publicKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.polluters[encoder] {
		c.polluters[encoder] = true
		out.polluters = append(out.polluters, encoder)
	}
}

// drop drops blocks from a generation that is gathered, by making its decoder again from the remaining
// ones. It returns the dropped blocks by name. The caller holds the generation's lock.
func (c *namedContent) drop(g *generation, bad func(*namedBlock) bool) (dropped []*namedBlock, err error) {
	left := g.held
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if b := left[name]; bad(b) {
			dropped = append(dropped, b)
			delete(left, name)
		}
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	g.state, g.decoder, g.held = unprepared, nil, nil // if prepare fails, the next block prepares it again
	if err := c.prepare(g); err != nil {
		return dropped, err
	}
	v := make([]byte, g.k)
	for name, b := range left {
		rlnc.Named(v, name)
		innovative, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload})
		if err != nil {
			return dropped, err
		}
		if innovative {
			g.held[b.name] = b
		}
	}
	return dropped, nil
}

// purge drops those blocks of a generation of which bad reports that they may be forged, and whose
// signatures are invalid, and reports whether there are any. The caller holds the generation's lock.
func (c *namedContent) purge(g *generation, bad func(*namedBlock) bool, out *outcome) (forged bool, err error) {
	dropped, err := c.drop(g, func(b *namedBlock) bool { return bad(b) && !c.check(g.number, b) })
	if len(dropped) == 0 {
		return false, nil
	}
	for _, b := range dropped {
		out.faults = append(out.faults, fault{c.number(g.number, b.name), b.sender})
	}
	out.verdict = purged
	if err == nil && g.decoder.Full() { // its verified pieces made up for the forged blocks
		err = c.finish(g, out)
	}
	return true, err
}

// dropForged drops a block that could not be forwarded because its signature is invalid.
func (c *namedContent) dropForged(number uint32) (outcome, error) {
	generation, name := c.of(number)
	out := outcome{verdict: ignored}
	g := c.lookup(generation)
	if g == nil {
		return out, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != gathering {
		return out, nil
	}
	_, err := c.purge(g, func(b *namedBlock) bool { return b.name == name }, &out)
	return out, err
}

// dropPolluted drops the blocks that polluters signed from all generations that are gathered, and returns their
// numbers.
func (c *namedContent) dropPolluted(polluters []publicKey) (numbers []uint32, err error) {
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.active))
	c.mu.Unlock()
	signed := func(b *namedBlock) bool { return slices.Contains(polluters, b.encoder) }
	for _, g := range open {
		g.mu.Lock()
		if g.state == gathering {
			dropped, why := c.drop(g, signed)
			err = errors.Join(err, why)
			for _, b := range dropped {
				numbers = append(numbers, c.number(g.number, b.name))
			}
		}
		g.mu.Unlock()
	}
	return numbers, err
}
