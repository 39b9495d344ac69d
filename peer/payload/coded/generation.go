package coded

import (
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// state is how far a generation is.
type state int

const (
	unprepared state = iota
	gathering
	decoding
	repairing
	whole
)

// generation is one under way.
type generation struct {
	number, k int

	mu       sync.Mutex // guards what follows
	state    state
	decoder  *rlnc.Decoder // while gathering and decoding
	source   [][]byte      // the same while: the source blocks that are there, nil for others
	held     map[int]*held // by name: what came, and may be passed on
	suspects map[int]*part // while repairing, by number: the pieces that are not verified
	claims   []claim       // what was said of blocks that failed
}

// held is a block that came.
type held struct {
	payload []byte // nobody writes to it while it is held
	origin  proto.Origin
	sender  proto.PeerID
	claim
	checked bool // the signature is that of the encoder, and sum is known
}

// prepare gives a generation a decoder, with what is verified of it already. The
// caller has its lock.
func (c *Content) prepare(g *generation) error {
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
	c.bytes.Add(int64(d.Rank() * c.Coding.Block))
	g.decoder, g.source, g.state = d, source, gathering
	return nil
}

// addPiece gives a decoder the source blocks of a piece that is verified.
func (c *Content) addPiece(d *rlnc.Decoder, source [][]byte, piece int) error {
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

// release lets go of the blocks of a generation. The caller has its lock.
func (c *Content) release(g *generation) {
	if g.decoder != nil {
		c.bytes.Add(-int64(g.decoder.Rank() * c.Coding.Block))
		g.decoder, g.source = nil, nil
	}
	for _, p := range g.suspects {
		c.bytes.Add(-int64(p.distinct() * c.Coding.Block))
	}
	g.suspects = nil
	g.held = map[int]*held{}
}
