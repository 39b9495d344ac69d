package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
)

// blame notes that an encoder signed a false block.
func (c *Content) blame(out *Outcome, encoder Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.liars[encoder] {
		c.liars[encoder] = true
		out.Liars = append(out.Liars, encoder)
	}
}

// forged finds the blocks of a generation that are not what anybody signed. The caller
// has its lock.
func (c *Content) forged(g *generation) (names []int) {
	for name, b := range g.held {
		if !c.check(g.number, b) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// purge drops blocks from a generation that is gathered, which are their senders' fault.
// The caller has its lock.
func (c *Content) purge(g *generation, names []int, out *Outcome) error {
	for _, name := range names {
		out.Numbers = append(out.Numbers, c.Number(g.number, name))
		out.Faults = append(out.Faults, Fault{c.Number(g.number, name), g.held[name].sender})
	}
	if out.Verdict = Purged; len(names) == 0 {
		return nil
	}
	if err := c.regather(g, names); err != nil || !g.decoder.Full() {
		return err
	}
	return c.decode(g, out) // by what was right by chance
}

// Purge drops a block that could not be passed on, because it is not what anybody
// signed.
func (c *Content) Purge(number uint32) (Outcome, error) {
	generation, name := c.Of(number)
	out := Outcome{Verdict: Ignored, Generation: generation}
	g := c.under(generation)
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
		if c.Store.Has(p.piece) {
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
		if slices.Contains(liars, b.author) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return names, c.regather(g, names)
}

// regather makes the decoder of a generation anew, without some of its blocks. The caller
// has its lock.
func (c *Content) regather(g *generation, without []int) error {
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
		news, err := g.decoder.Add(rlnc.Block{Vector: v, Payload: b.payload})
		if err != nil {
			return err
		}
		if news {
			c.bytes.Add(int64(len(b.payload)))
			g.held[name] = b
			if name < g.k {
				g.source[name] = b.payload
			}
		}
	}
	return nil
}
