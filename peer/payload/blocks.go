package payload

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// Blocks is the exchange of a coded transfer.
type Blocks struct {
	Config
	content *coded.Content
	// order keeps what became of a block, and is told, before blocks that are dropped: the
	// takers share it. Each generation's blocks are taken by one worker, in order.
	order sync.RWMutex
}

// Coded is the form of a coded transfer with generations of k, of the swarm of that id,
// at the node with that key, by which it signs what it makes.
func Coded(cfg Config, k int, id []byte, key crypto.PrivKey) (Form, error) {
	m := cfg.Verifier.Manifest()
	if len(m.Hashes) == 0 && m.Pieces() > 0 {
		return Form{}, errors.New("a coded transfer needs the content's manifest, and the link has only a torrent's info-hash: use one without x.rlnc")
	}
	coding, err := proto.NewCoding(m, k)
	if err != nil {
		return Form{}, err
	}
	raw, err := key.Raw()
	if err != nil || key.Type() != crypto.Ed25519 {
		return Form{}, errors.New("the node's key is not Ed25519, which coded transfers need: remove it to get a new identity")
	}
	x := &Blocks{Config: cfg, content: coded.New(coded.Config{
		Disk: cfg.disk(coding), Swarm: id, Key: raw, Cache: coded.Cached(coding),
	})}
	return Form{Exchange: x, Coding: coding, Coded: x, lane: uint32(coding.Names())}, nil
}

// Begin returns how many generations a node fetches at a time, and the blocks that are there.
func (x *Blocks) Begin(c proto.Coding) (live int, have []proto.Range) {
	for g := range x.content.Generations() {
		if x.content.Has(g) {
			have = append(have, proto.Range{First: x.content.Number(g, 0), Count: uint32(c.Names())})
		}
	}
	return coded.Live(c), have
}

// Valid implements [Exchange]: a span is one block.
func (x *Blocks) Valid(sp proto.Span) bool { return x.content.Valid(sp) }

// Frame takes a block that is held, or makes one. Where the disk is not what it was,
// the piece is checked.
func (x *Blocks) Frame(to Peer, sp proto.Span) (*Buffer, error) {
	buf := Get(proto.CodedHeader + int(sp.Length))
	data := buf.B[proto.CodedHeader:]
	o, err := x.content.Load(data, sp.Piece)
	if err == nil {
		proto.AppendCodedHeader(buf.B[:0], sp.Piece, &o, len(data))
		return buf, nil
	}
	Put(buf)
	if errors.Is(err, coded.ErrForged) {
		x.purge(sp.Piece)
		err = ErrAbsent
	}
	return nil, x.unmade(to, sp.Piece, err)
}

// Head implements [Exchange].
func (x *Blocks) Head(r io.Reader, room *[proto.CodedHeader]byte) (proto.Span, *proto.Origin, error) {
	sp, o, err := proto.ReadCodedHeader(r, room)
	return sp, &o, err
}

// Place does nothing: there is nothing to write before a generation is whole.
func (x *Blocks) Place(*Arrival) error { return nil }

// Take checks a block, and decodes its generation with the last one.
func (x *Blocks) Take(a Arrival) {
	x.Swarm.Post(mob.Arrived{Peer: a.From.ID(), Span: a.Span}, a.From)
	x.order.RLock()
	out, err := x.content.Take(a.Span.Piece, coded.From{Sender: a.From.ID(), Origin: *a.Origin}, a.Buf.B)
	if err == nil {
		x.tell(a, out)
		x.blame(out.Faults)
	}
	x.order.RUnlock()
	var damaged *coded.DamagedError
	if errors.As(err, &damaged) {
		x.doubt(a.From, a.Span.Piece, err)
		x.Swarm.Post(mob.Failed{Piece: int(a.Span.Piece)}, nil)
		return
	}
	if err == nil && len(out.Liars) > 0 {
		err = x.expose(out.Liars)
	}
	if err != nil {
		x.Swarm.Fail(err)
	}
}

// tell tells the loop what became of a block.
func (x *Blocks) tell(a Arrival, out coded.Outcome) {
	number := int(a.Span.Piece)
	switch out.Verdict {
	case coded.Ignored:
		x.Count.Duplicate(len(a.Buf.B))
	case coded.Duplicate:
		x.Count.Duplicate(len(a.Buf.B))
		x.Swarm.Post(mob.Stored{Piece: number}, nil)
	case coded.Forged:
		x.Swarm.Post(mob.Failed{Piece: number, Sources: []proto.PeerID{a.From.ID()}}, nil)
	case coded.Useless:
		x.Count.Duplicate(len(a.Buf.B))
		x.Swarm.Post(mob.Useless{Peer: a.From.ID(), Piece: number}, nil)
	case coded.Refused:
		x.Swarm.Post(mob.Failed{Piece: number}, nil)
	case coded.Purged:
		x.lost(out.Numbers)
		if !slices.Contains(out.Numbers, a.Span.Piece) {
			x.Swarm.Post(mob.Stored{Piece: number}, nil)
		}
	case coded.Held:
		x.Swarm.Post(mob.Stored{Piece: number}, nil)
	case coded.PieceStored:
		x.stored(out.Numbers)
	case coded.PieceFailed:
		x.Swarm.Post(mob.Failed{Piece: number}, nil)
		x.lost(out.Numbers)
	case coded.Polluted:
		x.Log.Warn("generation failed its hashes: its source blocks are fetched", "generation", out.Generation)
		x.Swarm.Post(mob.Polluted{Generation: out.Generation}, nil)
		x.stored(out.Numbers)
	case coded.Decoded:
		x.Swarm.Post(mob.Decoded{Generation: out.Generation}, nil)
	}
}

// blame holds senders to account.
func (x *Blocks) blame(faults []coded.Fault) {
	for i, f := range faults {
		if i == 0 {
			x.Log.Warn("blocks were wrong", "count", len(faults), "peer", libpeer.ID(f.Sender).String())
		}
		x.Swarm.Post(mob.Failed{Piece: int(f.Number), Sources: []proto.PeerID{f.Sender}}, nil)
	}
}

// purge drops a block that could not be passed on.
func (x *Blocks) purge(number uint32) {
	x.order.Lock()
	defer x.order.Unlock()
	out, err := x.content.Purge(number)
	if err != nil {
		x.Swarm.Fail(err)
		return
	}
	if out.Verdict == coded.Purged {
		x.lost(out.Numbers)
	}
	x.blame(out.Faults)
}

// stored tells that blocks are there, of pieces that are verified.
func (x *Blocks) stored(numbers []uint32) {
	for _, n := range numbers {
		x.Swarm.Post(mob.Stored{Piece: int(n)}, nil)
	}
}

// lost tells that blocks are not there any more.
func (x *Blocks) lost(numbers []uint32) {
	for _, n := range numbers {
		x.Swarm.Post(mob.Lost{Piece: int(n)}, nil)
	}
}

// Forget tells that of the generation of a damaged piece nothing is there any more.
func (x *Blocks) Forget(piece uint32) {
	x.order.Lock()
	defer x.order.Unlock()
	g := x.content.GenerationOf(int(piece))
	x.content.Forget(g)
	for name := range x.content.Names() {
		x.lost([]uint32{x.content.Number(g, name)})
	}
}

// expose has liars thrown out, and what they made as well.
func (x *Blocks) expose(liars []coded.Key) error {
	x.order.Lock()
	defer x.order.Unlock()
	for _, k := range liars {
		id := peerOf(k)
		x.Log.Warn("node made false blocks: it is not believed any more", "peer", libpeer.ID(id).String())
		x.Swarm.Post(mob.Liar{Peer: id}, nil)
	}
	dropped, err := x.content.Disown(liars)
	x.lost(dropped)
	return err
}

// peerOf is the node that signs with a key.
func peerOf(k coded.Key) proto.PeerID {
	pub, err := crypto.UnmarshalEd25519PublicKey(k[:])
	if err != nil {
		return ""
	}
	id, err := libpeer.IDFromPublicKey(pub)
	if err != nil {
		return ""
	}
	return proto.PeerID(id)
}

// Liars names the nodes that were found to make false blocks. Of plain pieces there are
// none.
func (x *Blocks) Liars() (names []string) {
	if x == nil {
		return nil
	}
	for _, k := range x.content.Liars() {
		names = append(names, libpeer.ID(peerOf(k)).String())
	}
	return names
}
