package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
)

// blame notes that a node lies.
func (c *Content) blame(out *Outcome, k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.liars[k] {
		c.liars[k] = true
		out.Liars = append(out.Liars, k)
	}
}

// Disown drops the blocks of liars from the generations that are not whole, and
// gives their numbers. Whoever takes in blocks calls it after an outcome that names
// some.
func (c *Content) Disown(liars []Key) (dropped []uint32, err error) {
	c.mu.Lock()
	var open []*generation
	for _, g := range c.open {
		open = append(open, g)
	}
	c.mu.Unlock()
	for _, g := range open {
		names, e := c.disown(g, liars)
		for _, name := range names {
			dropped = append(dropped, c.Number(g.number, name))
		}
		if e != nil {
			return dropped, e
		}
	}
	return dropped, nil
}

// reject drops the blocks of liars from the pieces of a generation that are not
// verified yet. The caller has its lock.
func (c *Content) reject(g *generation, liars []Key) (names []int) {
	for _, p := range g.suspects {
		if c.cfg.Ledger.Has(uint32(p.piece)) {
			continue
		}
		for _, k := range liars {
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

// disown drops the blocks of liars from one generation, and makes it a decoder of
// the others.
func (c *Content) disown(g *generation, liars []Key) (names []int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == repairing {
		return c.reject(g, liars), nil
	}
	if g.state != gathering {
		return nil, nil
	}
	for name, b := range g.held {
		if slices.Contains(liars, b.claim.encoder) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	left := g.held
	for _, name := range names {
		delete(left, name)
	}
	c.release(g)
	if err := c.prepare(g); err != nil {
		return names, err
	}
	v := make([]byte, g.k)
	for name, b := range left {
		rlnc.Named(v, name)
		if _, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload}); err != nil {
			return names, err
		}
		c.bytes.Add(int64(len(b.payload)))
	}
	g.held = left
	return names, nil
}
