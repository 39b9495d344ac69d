package payload

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// Gossip is the exchange of blocks that go round by permutations: nobody asks for them.
type Gossip struct {
	Config
	content *coded.Recoded
	cluster string
	round   atomic.Uint32
}

// NewGossip is the form of a transfer by the strategy of its link, at a node that is
// described by who, and the strategy for it.
func NewGossip(cfg Config, l *proto.Link, who permutation.Config) (Form, mob.Strategy, error) {
	m := cfg.Verifier.Manifest()
	if len(m.Hashes) == 0 && m.Pieces() > 0 {
		return Form{}, nil, errors.New("permutation gossip needs the content's manifest, and the link has only a torrent's info-hash: use one without x.gossip")
	}
	coding, err := proto.NewCoding(m, l.Coded)
	coding.Strategy = l.Strategy
	if err != nil {
		return Form{}, nil, err
	}
	x := &Gossip{
		Config: cfg, cluster: who.Cluster, content: coded.NewRecoded(cfg.disk(coding)),
	}
	who.Strategy = l.Strategy
	for g := range x.content.Generations() {
		who.Blocks = append(who.Blocks, x.content.Blocks(g))
		if x.content.Has(g) {
			who.Have = append(who.Have, g)
		}
	}
	return Form{Exchange: x, Coding: coding, Gossip: x, lane: 1}, permutation.New(who), nil
}

// Push is the span by which a push waits for its turn. One leaves at a time, so the round
// is the node's.
func (x *Gossip) Push(p mob.Push) proto.Span {
	x.round.Store(uint32(p.Round))
	return proto.Span{Piece: uint32(p.Generation), Begin: uint32(p.Block), Length: uint32(x.content.Coding.Block)}
}

// Valid implements [Exchange]: nothing is asked for.
func (x *Gossip) Valid(proto.Span) bool { return false }

// Frame makes a block of a generation, as it is there now.
func (x *Gossip) Frame(to Peer, sp proto.Span) (*Buffer, error) {
	generation, block := int(sp.Piece), -1
	if x.content.Coding.Strategy == proto.RandomBlock {
		block = int(sp.Begin)
	}
	n := x.content.Frame(generation)
	buf := Get(proto.GossipHeader + n)
	proto.AppendGossipHeader(buf.B[:0], sp.Piece, x.round.Load(), n)
	err := x.content.Make(buf.B[proto.GossipHeader:], generation, block)
	if err == nil {
		return buf, nil
	}
	Put(buf)
	return nil, x.unmade(to, sp.Piece, err)
}

// Head implements [Exchange]. The span begins at the sender's round, and has the
// coefficients too.
func (x *Gossip) Head(r io.Reader, room *[proto.CodedHeader]byte) (proto.Span, *proto.Origin, error) {
	generation, round, n, err := proto.ReadGossipHeader(r, (*[proto.GossipHeader]byte)(room[:]))
	if err == nil && (int(generation) >= x.content.Generations() || n != x.content.Frame(int(generation))) {
		err = fmt.Errorf("block of generation %d with %d bytes", generation, n)
	}
	return proto.Span{Piece: generation, Begin: round, Length: uint32(n)}, nil, err
}

// Place does nothing: there is nothing to write before a generation is whole.
func (x *Gossip) Place(*Arrival) error { return nil }

// Take takes in a block, and decodes its generation with the last one.
func (x *Gossip) Take(a Arrival) {
	generation := int(a.Span.Piece)
	out, err := x.content.Take(generation, a.Buf.B)
	if err != nil {
		x.Swarm.Fail(err)
		return
	}
	switch out.Verdict {
	case coded.Malformed:
		x.Swarm.Post(mob.Failed{Piece: generation, Sources: []proto.PeerID{a.From.ID()}}, a.From)
		return
	case coded.Ignored, coded.Useless:
		x.Count.Duplicate(len(a.Buf.B))
	}
	if out.Dropped >= 0 {
		x.Swarm.Post(mob.Polluted{Generation: out.Dropped}, nil)
	}
	x.Swarm.Post(mob.Gathered{Peer: a.From.ID(), Generation: generation, Block: out.Block, Round: int(a.Span.Begin)}, a.From)
	if out.Verdict == coded.Last {
		x.Swarm.Post(mob.Filled{Generation: generation}, nil)
		x.decode(generation)
	}
}

// decode decodes a generation, and tells what came of it.
func (x *Gossip) decode(generation int) {
	good, err := x.content.Decode(generation)
	switch {
	case err != nil:
		x.Swarm.Fail(err)
	case good:
		x.Swarm.Post(mob.Decoded{Generation: generation}, nil)
	default:
		x.Log.Warn("generation failed its hashes: it is gathered anew", "generation", generation)
		x.Swarm.Post(mob.Polluted{Generation: generation}, nil)
	}
}

// Forget tells that the generation of a damaged piece cannot be sent any more.
func (x *Gossip) Forget(piece uint32) {
	x.Swarm.Post(mob.Polluted{Generation: x.content.Forget(int(piece))}, nil)
}
