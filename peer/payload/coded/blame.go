package coded

import (
	"maps"
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
)

// blame notes that an encoder signed a false block.
func (c *namedContent) blame(out *outcome, encoder publicKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.signers.polluters[encoder] {
		c.signers.polluters[encoder] = true
		out.polluters = append(out.polluters, encoder)
	}
}

// forged returns the names of the blocks of a generation whose signatures are invalid. The
// caller holds its lock.
func (c *namedContent) forged(g *generation) (names []int) {
	for name, b := range g.held {
		if !c.check(g.number, b) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// purge drops forged blocks from a generation that is gathered. The caller holds its lock.
func (c *namedContent) purge(g *generation, names []int, out *outcome) error {
	for _, name := range names {
		out.numbers = append(out.numbers, c.number(g.number, name))
		out.faults = append(out.faults, fault{c.number(g.number, name), g.held[name].sender})
	}
	out.verdict = purged
	if len(names) == 0 {
		return nil
	}
	if err := c.regather(g, names); err != nil || !g.decoder.Full() {
		return err
	}
	return c.decode(g, out) // its verified pieces made up for the forged blocks
}

// dropForged drops a block that could not be passed on because its signature is invalid.
func (c *namedContent) dropForged(number uint32) (outcome, error) {
	generation, name := c.of(number)
	out := outcome{verdict: ignored, generation: generation}
	g := c.underWay(generation)
	if g == nil {
		return out, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if b := g.held[name]; g.state != gathering || b == nil || c.check(generation, b) {
		return out, nil
	}
	return out, c.purge(g, []int{name}, &out)
}

// allUnderWay returns the generations under way.
func (c *namedContent) allUnderWay() []*generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.open))
}

// disown drops the blocks that polluters signed from all generations under way, and
// returns their numbers.
func (c *namedContent) disown(polluters []publicKey) (dropped []uint32, err error) {
	for _, g := range c.allUnderWay() {
		names, e := c.disownIn(g, polluters)
		for _, name := range names {
			dropped = append(dropped, c.number(g.number, name))
		}
		if e != nil {
			return dropped, e
		}
	}
	return dropped, nil
}

// disownIn drops the blocks that polluters signed from one generation, and returns their
// names.
func (c *namedContent) disownIn(g *generation, polluters []publicKey) (names []int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == repairing {
		return c.disownSuspects(g, polluters), nil
	}
	if g.state != gathering {
		return nil, nil
	}
	for name, b := range g.held {
		if slices.Contains(polluters, b.encoder) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return names, c.regather(g, names)
}

// disownSuspects drops what polluters alone signed from the suspect pieces of a generation.
// The caller holds its lock.
func (c *namedContent) disownSuspects(g *generation, polluters []publicKey) (names []int) {
	for _, p := range g.suspects {
		if c.Store.Has(p.piece) {
			continue
		}
		for _, k := range polluters {
			p.disown(c, k)
		}
		for i, vs := range p.versions {
			if _, ok := g.held[p.first+i]; ok && len(vs) == 0 {
				delete(g.held, p.first+i)
				p.awaited[p.first+i] = true
				names = append(names, p.first+i)
			}
		}
	}
	slices.Sort(names)
	return names
}

// regather drops blocks from a generation by making its decoder anew from the others. The
// caller holds its lock.
func (c *namedContent) regather(g *generation, without []int) error {
	left := g.held
	for _, name := range without {
		delete(left, name)
	}
	c.release(g)
	if err := c.prepare(g); err != nil {
		return err
	}
	v := make([]byte, g.k)
	for name, b := range left {
		rlnc.Named(v, name)
		innovative, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload})
		if err != nil {
			return err
		}
		if innovative {
			c.memory.count(1)
			g.held[name] = b
			if name < g.k {
				g.source[name] = b.payload
			}
		}
	}
	return nil
}
