package coded

import (
	"crypto/sha256"
	"slices"
)

// part is a piece of a generation that is repaired: for each of its source blocks,
// what was signed for it.
type part struct {
	piece, first int         // first is the name of its first source block
	versions     [][]version // by name, from first on
	awaited      map[int]bool
	failed       bool // the versions that came first are not right
}

// version is one of the things that were signed for a source block.
type version struct {
	*held
	authors []Key
}

// suspect takes back the blocks of a generation that could be decoded and is wrong.
// What was said of them is kept. Pieces of it that are verified are named in out. The
// caller has its lock.
func (c *Content) suspect(g *generation, out *Outcome) {
	for _, b := range g.held {
		g.claims = append(g.claims, b.claim)
	}
	c.release(g)
	out.Numbers = nil
	g.state, g.suspects = repairing, map[int]*part{}
	for piece, end := c.Pieces(g.number); piece < end; piece++ {
		name, last := c.namesOf(piece)
		if c.Store.Has(piece) { // by chance, or from before
			for ; name < last; name++ {
				out.Numbers = append(out.Numbers, c.Number(g.number, name))
			}
			continue
		}
		p := &part{piece: piece, first: name, versions: make([][]version, last-name), awaited: map[int]bool{}}
		p.await()
		g.suspects[piece] = p
	}
}

// await notes that all blocks have to be asked for.
func (p *part) await() {
	for i := range p.versions {
		p.awaited[p.first+i] = true
	}
}

// distinct counts the payloads that are kept.
func (p *part) distinct() (n int) {
	for _, vs := range p.versions {
		n += len(vs)
	}
	return n
}

// repair takes in a block of a generation that failed. The caller has its lock.
func (c *Content) repair(g *generation, b *held, out *Outcome) error {
	p := g.suspected(b.name)
	if p == nil {
		if out.Verdict = Ignored; b.name < g.k {
			out.Verdict = Duplicate // its piece is verified
		}
		return nil
	}
	added, v := p.add(b)
	switch added {
	case lied:
		c.blame(out, b.author)
		p.disown(c, b.author)
		c.fail(g, p, out)
		return nil
	case another:
		c.bytes.Add(int64(c.Coding.Block))
		fallthrough
	case same:
		g.claims = append(g.claims, b.claim)
	}
	g.held[b.name] = v.held
	delete(p.awaited, b.name)
	if out.Verdict = Held; len(p.awaited) > 0 && (!p.failed || added == repeated) {
		return nil
	}
	chosen, err := c.try(p, out)
	if chosen == nil {
		if err == nil && (len(p.awaited) == 0 || len(out.Liars) > 0) {
			c.fail(g, p, out)
		}
		return err
	}
	clear(p.awaited)
	out.Verdict = PieceStored
	c.bytes.Add(int64((len(chosen) - p.distinct()) * c.Coding.Block))
	for i, v := range chosen {
		out.Numbers = append(out.Numbers, c.Number(g.number, p.first+i))
		g.held[p.first+i] = v.held
		p.versions[i] = []version{v} // what is held stays counted
	}
	return c.repaired(g, out)
}

// fail has the blocks of a piece asked for again. What came of them is kept, but not
// passed on.
func (c *Content) fail(g *generation, p *part, out *Outcome) {
	for i := range p.versions {
		delete(g.held, p.first+i)
		out.Numbers = append(out.Numbers, c.Number(g.number, p.first+i))
	}
	p.await()
	p.failed = true
	out.Verdict = PieceFailed
}

// suspected is the piece of a source block, if that is not verified.
func (g *generation) suspected(name int) *part {
	for _, p := range g.suspects {
		if name >= p.first && name < p.first+len(p.versions) && len(p.awaited) > 0 {
			return p
		}
	}
	return nil
}

// What adding a version of a source block found.
const (
	another  = iota // nobody signed it before
	same            // somebody did
	repeated        // the same encoder did
	lied            // the same encoder signed another
)

// add keeps what is new of a block, and says under which version.
func (p *part) add(b *held) (added int, v version) {
	vs := p.versions[b.name-p.first]
	for _, v := range vs {
		if slices.Contains(v.authors, b.author) {
			if v.sum == b.sum {
				return repeated, v
			}
			return lied, v
		}
	}
	for i := range vs {
		if vs[i].sum == b.sum {
			vs[i].authors = append(vs[i].authors, b.author)
			return same, vs[i]
		}
	}
	b.payload = append([]byte(nil), b.payload...)
	v = version{b, []Key{b.author}}
	p.versions[b.name-p.first] = append(vs, v)
	return another, v
}

// disown takes out what nobody else answers for.
func (p *part) disown(c *Content, a Key) {
	for i, vs := range p.versions {
		p.versions[i] = slices.DeleteFunc(vs, func(v version) bool { return len(v.authors) == 1 && v.authors[0] == a })
		c.bytes.Add(-int64((len(vs) - len(p.versions[i])) * c.Coding.Block))
	}
}

// try looks for the versions of a piece's source blocks that make it good, and
// stores it. It finds them when one honest node signed all of them, and when one node
// alone lies and others signed what it did. Who signed all blocks of a piece that is not good is a liar.
func (c *Content) try(p *part, out *Outcome) ([]version, error) {
	for _, a := range p.authors() {
		by := func(v version) bool { return slices.Contains(v.authors, a) }
		if p.all(by) {
			if vs, err := c.tryThose(p, by); vs != nil || err != nil {
				return vs, err
			}
			c.blame(out, a)
			p.disown(c, a)
		}
	}
	for _, a := range append(p.authors(), Key{}) { // without anybody, and with all
		others := func(v version) bool { return slices.ContainsFunc(v.authors, func(e Key) bool { return e != a }) }
		if vs, err := c.tryThose(p, others); vs != nil || err != nil {
			return vs, err
		}
	}
	return nil, nil
}

// tryThose stores a piece made of the versions that are preferred, where there are
// any; nil if it is not good, or lacks a block.
func (c *Content) tryThose(p *part, prefer func(version) bool) ([]version, error) {
	var chosen []version
	b := make([]byte, 0, len(p.versions)*c.Coding.Block)
	for _, vs := range p.versions {
		if len(vs) == 0 {
			return nil, nil
		}
		v := vs[max(slices.IndexFunc(vs, prefer), 0)]
		chosen, b = append(chosen, v), append(b, v.payload...)
	}
	if b = b[:c.Manifest.PieceSize(p.piece)]; !c.Good(p.piece, b) {
		return nil, nil
	}
	if err := c.StorePiece(p.piece, b); err != nil {
		return nil, err
	}
	return chosen, nil
}

// authors are all who answer for something.
func (p *part) authors() (all []Key) {
	for _, vs := range p.versions {
		for _, v := range vs {
			for _, a := range v.authors {
				if !slices.Contains(all, a) {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// all says whether there is such a version of each block.
func (p *part) all(ok func(version) bool) bool {
	return !slices.ContainsFunc(p.versions, func(vs []version) bool { return !slices.ContainsFunc(vs, ok) })
}

// repaired ends a repair when nothing is left of it, and finds the liars. The caller
// has the generation's lock.
func (c *Content) repaired(g *generation, out *Outcome) error {
	if !c.Has(g.number) {
		return nil
	}
	out.Verdict, out.Numbers = Decoded, nil
	b := make([]byte, c.Coding.Block)
	err := c.encoders.use(g.number, func(e *encoder) error {
		for _, cl := range g.claims {
			if err := e.encode(b, cl.name); err != nil {
				return err
			}
			if sha256.Sum256(b) != cl.sum {
				c.blame(out, cl.author)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.end(g)
	return nil
}
