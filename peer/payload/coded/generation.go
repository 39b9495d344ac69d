package coded

import (
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// state is the state of a generation, see the package comment.
type state int

const (
	unprepared state = iota
	gathering
	decoding
	repairing
	whole
)

// generation is a generation of named blocks that is under way.
type generation struct {
	number, k int

	mu       sync.Mutex // guards what follows
	state    state
	decoder  *rlnc.Decoder       // while gathering and decoding
	source   [][]byte            // while gathering and decoding: the source blocks, nil where absent
	held     map[int]*namedBlock // by name: what may be passed on
	suspects map[int]*suspect    // while repairing, by number: the pieces that are not verified
	claims   []claim             // about blocks that were dropped
}

// namedBlock is a block that arrived.
type namedBlock struct {
	payload []byte // not written to while it is held
	origin  proto.Origin
	sender  proto.PeerID
	claim
	checked bool // the signature is valid, and sum is set
}

// prepare gives a generation a decoder with the source blocks of its verified pieces. The
// caller holds its lock.
func (c *namedContent) prepare(g *generation) error {
	d, err := rlnc.NewDecoder(g.k, c.Coding.Block)
	if err != nil {
		return err
	}
	source := make([][]byte, g.k)
	first, end := c.Pieces(g.number)
	for piece := first; piece < end; piece++ {
		if !c.Store.Has(piece) {
			continue
		}
		if err := c.addPiece(d, source, piece); err != nil {
			return err
		}
	}
	c.memory.count(d.Rank())
	g.decoder, g.source, g.state = d, source, gathering
	return nil
}

// addPiece adds the source blocks of a verified piece to a decoder.
func (c *namedContent) addPiece(d *rlnc.Decoder, source [][]byte, piece int) error {
	name, end := c.namesOf(piece)
	for i := name; i < end; i++ {
		source[i] = make([]byte, c.Coding.Block)
	}
	if err := c.ReadPiece(piece, c.Parts(piece, source)...); err != nil {
		return err
	}
	for v := make([]byte, len(source)); name < end; name++ {
		rlnc.Named(v, name)
		if _, err := d.Add(rlnc.Block{Vector: v, Payload: source[name]}); err != nil {
			return err
		}
	}
	return nil
}

// release drops the blocks of a generation. The caller holds its lock.
func (c *namedContent) release(g *generation) {
	if g.decoder != nil {
		c.memory.count(-g.decoder.Rank())
		g.decoder, g.source = nil, nil
	}
	for _, p := range g.suspects {
		c.memory.count(-p.payloads())
	}
	g.suspects = nil
	g.held = map[int]*namedBlock{}
}
