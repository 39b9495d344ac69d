package coded

import (
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// Codec is the codec of a receiver-driven coded transfer. Blocks are requested by name, and are
// signed by the node that made them. It implements [payload.Codec].
type Codec struct {
	base
	content *namedContent
	// order is held for reading while a block is added and the outcome posted, and for
	// writing while blocks are dropped and the losses posted, so the strategy receives
	// both in order.
	order sync.RWMutex
}

// New returns the codec of the swarm with the given id. key signs the blocks that the node makes.
func New(cfg payload.Config, coding proto.Coding, swarm []byte, key crypto.PrivKey) (*Codec, error) {
	raw, err := key.Raw()
	if err != nil || key.Type() != crypto.Ed25519 {
		return nil, errors.New("the node's key is not Ed25519, which coded transfers need: remove it to get a new identity")
	}
	content := newNamed(newDisk(&cfg, coding), swarm, ed25519.PrivateKey(raw), cfg.Swarm.Knows, cached(coding))
	return &Codec{base: base{cfg, content.content}, content: content}, nil
}

// Have returns the numbers of the blocks of all stored generations.
func (c *Codec) Have() (have []proto.Range) {
	for g := range c.content.Generations() {
		if c.content.Has(g) {
			have = append(have, c.names(g))
		}
	}
	return have
}

// Polluters returns the nodes that signed corrupt blocks.
func (c *Codec) Polluters() (ids []proto.PeerID) {
	c.content.mu.Lock()
	defer c.content.mu.Unlock()
	for k := range c.content.polluters {
		ids = append(ids, peerOf(k))
	}
	return ids
}

// Valid implements [payload.Codec]: a span is one block.
func (c *Codec) Valid(sp proto.Span) bool { return c.content.valid(sp) }

// Encode implements [payload.Codec]: it forwards a block, or makes one of a generation
// that is stored.
func (c *Codec) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	buf := payload.GetBuffer(proto.CodedHeader + int(sp.Length))
	data := buf.B[proto.CodedHeader:]
	o, err := c.content.load(data, sp.Piece)
	if err == nil {
		proto.AppendCodedHeader(buf.B[:0], sp.Piece, o, len(data))
		return buf, nil
	}
	buf.Release()
	if errors.Is(err, errForged) {
		c.dropForged(to, sp.Piece)
		err = payload.ErrAbsent
	}
	c.damaged(to, sp.Piece, err)
	return nil, err
}

// ReadHeader implements [payload.Codec].
func (c *Codec) ReadHeader(r io.Reader, h *payload.Header) (err error) {
	h.Span, h.Origin, err = proto.ReadCodedHeader(r, &h.Scratch)
	return err
}

// Write implements [payload.Codec]. Nothing is written before a generation is decoded.
func (c *Codec) Write(b *payload.Block) error {
	g, _ := c.content.of(b.Span.Piece)
	b.Lane = uint32(g)
	return nil
}

// Verify implements [payload.Codec]: it adds the block to its generation, which it decodes
// once there are enough.
func (c *Codec) Verify(b *payload.Block) {
	c.cfg.Swarm.Post(mob.Arrived{Peer: b.From.ID(), Span: b.Span}, b.From)
	if b.Made && b.From.ID() != peerOf(b.Origin.Encoder) {
		c.report(b, &outcome{verdict: invalid, faults: []fault{{b.Span.Piece, b.From.ID()}}})
		return
	}
	c.order.RLock()
	out, err := c.content.take(b.Span.Piece, b.From.ID(), &b.Origin, b.Buf.B)
	if err == nil {
		c.report(b, &out)
	}
	c.order.RUnlock()
	switch {
	case c.damaged(b.From, b.Span.Piece, err):
		c.cfg.Swarm.Post(mob.Failed{Piece: int(b.Span.Piece)}, nil)
	case err != nil:
		c.cfg.Swarm.Fail(err)
	case len(out.polluters) > 0:
		c.expose(b.From, b.Span.Piece, out.polluters)
	}
}

// report counts and posts the outcome of a block.
func (c *Codec) report(b *payload.Block, out *outcome) {
	c.reportForged(out.faults)
	number := b.Span.Piece
	generation, _ := c.content.of(number)
	switch out.verdict {
	case duplicate:
		c.stored(number)
	case useless:
		c.cfg.Swarm.Post(mob.Useless{Peer: b.From.ID(), Piece: int(number)}, nil)
	case rejected:
		c.cfg.Swarm.Post(mob.Failed{Piece: int(number)}, nil)
	case purged:
		if !slices.ContainsFunc(out.faults, func(f fault) bool { return f.number == number }) {
			c.stored(number)
		}
	case held:
		c.stored(number)
	case pieceStored:
		c.stored(out.numbers...)
	case pieceFailed:
		c.cfg.Swarm.Post(mob.Failed{Piece: int(number)}, nil)
		c.lost(out.numbers...)
	case polluted:
		c.cfg.Log.Warn("generation failed its hashes: its source blocks are fetched", "generation", generation)
		c.cfg.Swarm.Post(mob.Polluted{Generation: generation}, nil)
		c.stored(out.numbers...)
	case decoded:
		c.cfg.Swarm.Post(mob.Decoded{Generation: generation}, nil)
	}
	if out.verdict <= useless {
		c.cfg.Counters.Duplicate(len(b.Buf.B))
	}
}

// reportForged posts that blocks are not available because their senders forged them.
func (c *Codec) reportForged(faults []fault) {
	for i, f := range faults {
		if i == 0 {
			c.cfg.Log.Warn("forged blocks", "count", len(faults), "peer", libpeer.ID(f.sender).String())
		}
		c.lost(f.number)
		c.cfg.Swarm.Post(mob.Failed{Piece: int(f.number), Sources: []proto.PeerID{f.sender}, Forged: true}, nil)
	}
}

// stored posts that blocks are available.
func (c *Codec) stored(numbers ...uint32) {
	for _, n := range numbers {
		c.cfg.Swarm.Post(mob.Stored{Piece: int(n)}, nil)
	}
}

// lost posts that blocks are not available any more.
func (c *Codec) lost(numbers ...uint32) {
	for _, n := range numbers {
		c.cfg.Swarm.Post(mob.Lost{Piece: int(n)}, nil)
	}
}

// dropForged drops a block whose signature is found to be invalid when it is forwarded.
func (c *Codec) dropForged(to payload.Peer, number uint32) {
	c.order.Lock()
	defer c.order.Unlock()
	out, err := c.content.dropForged(number)
	c.reportForged(out.faults)
	c.failed(to, number, err)
}

// Numbers implements [payload.Codec]: every block of the piece's generation is made of it.
func (c *Codec) Numbers(piece int) proto.Range {
	return c.names(c.content.GenerationOf(piece))
}

func (c *Codec) names(generation int) proto.Range {
	return proto.Range{First: c.content.number(generation, 0), Count: uint32(c.content.Coding.Names())}
}

// Forget implements [payload.Codec]: the blocks of the piece's generation are lost.
func (c *Codec) Forget(piece int) {
	c.order.Lock()
	defer c.order.Unlock()
	g := c.content.GenerationOf(piece)
	c.content.forget(g)
	for name := range c.content.Coding.Names() {
		c.lost(c.content.number(g, name))
	}
}

// expose reports the polluters that a block of a peer gave away, and drops the blocks that they signed.
func (c *Codec) expose(from payload.Peer, number uint32, polluters []publicKey) {
	c.order.Lock()
	defer c.order.Unlock()
	for _, k := range polluters {
		id := peerOf(k)
		c.cfg.Log.Warn("node signed corrupt blocks: it is banned", "peer", libpeer.ID(id).String())
		c.cfg.Swarm.Post(mob.Liar{Peer: id}, nil)
	}
	dropped, err := c.content.dropPolluted(polluters)
	c.lost(dropped...)
	c.failed(from, number, err)
}
