package coded

import (
	"crypto/sha256"
	"slices"
)

// suspect is a piece of a polluted generation, with all that was signed for its source
// blocks.
type suspect struct {
	piece, first int         // first is the name of its first source block
	versions     [][]version // by name, from first on
	awaited      map[int]bool
	failed       bool // the versions that came first do not match the piece's hash
}

// version is one of the payloads that were signed for a source block.
type version struct {
	*namedBlock
	encoders []publicKey // who signed it
}

// suspectAll drops the blocks of a polluted generation, keeps the claims about them, and
// begins its repair. It sets out.numbers to the source blocks of pieces that are verified.
// The caller holds the generation's lock.
func (c *namedContent) suspectAll(g *generation, out *outcome) {
	for _, b := range g.held {
		g.claims = append(g.claims, b.claim)
	}
	c.release(g)
	out.numbers = nil
	g.state, g.suspects = repairing, map[int]*suspect{}
	for piece, end := c.Pieces(g.number); piece < end; piece++ {
		name, last := c.namesOf(piece)
		if c.Store.Has(piece) { // the false blocks did not matter to it, or it was stored before
			for ; name < last; name++ {
				out.numbers = append(out.numbers, c.number(g.number, name))
			}
			continue
		}
		p := &suspect{piece: piece, first: name, versions: make([][]version, last-name), awaited: map[int]bool{}}
		p.awaitAll()
		g.suspects[piece] = p
	}
}

// awaitAll notes that all blocks of the piece must be requested.
func (p *suspect) awaitAll() {
	for i := range p.versions {
		p.awaited[p.first+i] = true
	}
}

// payloads counts the payloads that are kept.
func (p *suspect) payloads() (n int) {
	for _, vs := range p.versions {
		n += len(vs)
	}
	return n
}

// repair adds a block to a polluted generation. The caller holds its lock.
func (c *namedContent) repair(g *generation, b *namedBlock, out *outcome) error {
	p := g.suspectOf(b.name)
	if p == nil {
		out.verdict = ignored
		if b.name < g.k {
			out.verdict = duplicate // its piece is verified
		}
		return nil
	}
	added, v := p.add(b)
	switch added {
	case contradicts:
		c.blame(out, b.encoder)
		p.disown(c, b.encoder)
		c.failPiece(g, p, out)
		return nil
	case isNew:
		c.memory.count(1)
		fallthrough
	case isSigned:
		g.claims = append(g.claims, b.claim)
	}
	g.held[b.name] = v.namedBlock
	delete(p.awaited, b.name)
	out.verdict = held
	if len(p.awaited) > 0 && (!p.failed || added == isKnown) {
		return nil
	}
	chosen, err := c.try(p, out)
	if chosen == nil {
		if err == nil && (len(p.awaited) == 0 || len(out.polluters) > 0) {
			c.failPiece(g, p, out)
		}
		return err
	}
	clear(p.awaited)
	out.verdict = pieceStored
	c.memory.count(len(chosen) - p.payloads())
	for i, v := range chosen {
		out.numbers = append(out.numbers, c.number(g.number, p.first+i))
		g.held[p.first+i] = v.namedBlock
		p.versions[i] = []version{v} // what is held stays counted
	}
	return c.finishRepair(g, out)
}

// failPiece has the blocks of a piece requested again. Those that came are kept, but not
// passed on.
func (c *namedContent) failPiece(g *generation, p *suspect, out *outcome) {
	for i := range p.versions {
		delete(g.held, p.first+i)
		out.numbers = append(out.numbers, c.number(g.number, p.first+i))
	}
	p.awaitAll()
	p.failed = true
	out.verdict = pieceFailed
}

// suspectOf returns the piece of a source block, nil if that is verified.
func (g *generation) suspectOf(name int) *suspect {
	for _, p := range g.suspects {
		if name >= p.first && name < p.first+len(p.versions) && len(p.awaited) > 0 {
			return p
		}
	}
	return nil
}

// The results of adding a block to a suspect piece.
const (
	isNew       = iota // nobody signed this payload before
	isSigned           // another encoder did
	isKnown            // the same encoder did
	contradicts        // the same encoder signed another payload
)

// add keeps what is new of a block, and returns its version. If the block contradicts
// another, that one's is returned.
func (p *suspect) add(b *namedBlock) (added int, v version) {
	vs := p.versions[b.name-p.first]
	for _, v := range vs {
		if slices.Contains(v.encoders, b.encoder) {
			if v.sum == b.sum {
				return isKnown, v
			}
			return contradicts, v
		}
	}
	for i := range vs {
		if vs[i].sum == b.sum {
			vs[i].encoders = append(vs[i].encoders, b.encoder)
			return isSigned, vs[i]
		}
	}
	b.payload = slices.Clone(b.payload)
	v = version{b, []publicKey{b.encoder}}
	p.versions[b.name-p.first] = append(vs, v)
	return isNew, v
}

// disown drops the versions that an encoder alone signed.
func (p *suspect) disown(c *namedContent, encoder publicKey) {
	for i, vs := range p.versions {
		p.versions[i] = slices.DeleteFunc(vs, func(v version) bool {
			return len(v.encoders) == 1 && v.encoders[0] == encoder
		})
		c.memory.count(len(p.versions[i]) - len(vs))
	}
}

// try looks for versions of a piece's source blocks that match its hash, and stores the
// piece. It finds them if one honest node signed all of them, and if there is one polluter
// only, and others signed the blocks that it did. An encoder that signed all blocks of a
// piece that does not match is a polluter.
func (c *namedContent) try(p *suspect, out *outcome) ([]version, error) {
	for _, k := range p.allEncoders() {
		byK := func(v version) bool { return slices.Contains(v.encoders, k) }
		if p.all(byK) {
			if vs, err := c.tryThose(p, byK); vs != nil || err != nil {
				return vs, err
			}
			c.blame(out, k)
			p.disown(c, k)
		}
	}
	// Without each encoder, and last with all of them.
	for _, k := range append(p.allEncoders(), publicKey{}) {
		byOthers := func(v version) bool {
			return slices.ContainsFunc(v.encoders, func(e publicKey) bool { return e != k })
		}
		if vs, err := c.tryThose(p, byOthers); vs != nil || err != nil {
			return vs, err
		}
	}
	return nil, nil
}

// tryThose stores a piece made of the versions that are preferred, where there are any, and
// of the first ones elsewhere. It returns nil if the piece does not match its hash, or lacks
// a block.
func (c *namedContent) tryThose(p *suspect, prefer func(version) bool) ([]version, error) {
	var chosen []version
	b := make([]byte, 0, len(p.versions)*c.Coding.Block)
	for _, vs := range p.versions {
		if len(vs) == 0 {
			return nil, nil
		}
		v := vs[max(slices.IndexFunc(vs, prefer), 0)]
		chosen, b = append(chosen, v), append(b, v.payload...)
	}
	b = b[:c.Manifest.PieceSize(p.piece)]
	if !c.Good(p.piece, b) {
		return nil, nil
	}
	if err := c.StorePiece(p.piece, b); err != nil {
		return nil, err
	}
	return chosen, nil
}

// allEncoders returns all who signed a version.
func (p *suspect) allEncoders() (all []publicKey) {
	for _, vs := range p.versions {
		for _, v := range vs {
			for _, k := range v.encoders {
				if !slices.Contains(all, k) {
					all = append(all, k)
				}
			}
		}
	}
	return all
}

// all reports whether each block has a version for which ok is true.
func (p *suspect) all(ok func(version) bool) bool {
	return !slices.ContainsFunc(p.versions, func(vs []version) bool { return !slices.ContainsFunc(vs, ok) })
}

// finishRepair ends a repair if all pieces are stored, and finds the polluters: now every
// block can be made, and be compared with what was signed. The caller holds the
// generation's lock.
func (c *namedContent) finishRepair(g *generation, out *outcome) error {
	if !c.Has(g.number) {
		return nil
	}
	out.verdict, out.numbers = decoded, nil
	b := make([]byte, c.Coding.Block)
	err := c.encoders.use(g.number, func(e *encoder) error {
		for _, cl := range g.claims {
			if err := e.encode(b, cl.name); err != nil {
				return err
			}
			if sha256.Sum256(b) != cl.sum {
				c.blame(out, cl.encoder)
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
