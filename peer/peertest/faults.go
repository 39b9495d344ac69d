package peertest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"math/rand/v2"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// Lossy returns the faults of a node that rejects half of all requests, at random, so that
// a second request may succeed. It counts the rejected ones.
func Lossy(rejected *atomic.Int64) swarm.Faults {
	return swarm.Faults{Codec: func(_ *proto.Link, c payload.Codec) payload.Codec {
		return &lossy{c, rejected}
	}}
}

// lossy is the codec of one swarm of a lossy node.
type lossy struct {
	payload.Codec
	rejected *atomic.Int64
}

// Encode implements [payload.Codec].
func (l *lossy) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	if rand.N(2) == 0 {
		l.rejected.Add(1)
		return nil, payload.ErrAbsent
	}
	return l.Codec.Encode(to, sp)
}

// Polluter makes a node send forged blocks while On is set.
type Polluter struct {
	On   atomic.Bool
	Sent atomic.Int64 // forged blocks

	relay bool // changes only the blocks that other nodes made
	fresh bool // signs each block with a new key
}

// NewPolluter returns a polluter that forges all blocks. It signs coded
// blocks as its own, so that their signatures are valid.
func NewPolluter() *Polluter { return new(Polluter) }

// NewTamperer returns a polluter that changes the coded blocks which other nodes made when it
// forwards them, so that their signatures are invalid.
func NewTamperer() *Polluter { return &Polluter{relay: true} }

// NewSybil returns a polluter that signs each forged block of a coded transfer with a new key.
func NewSybil() *Polluter { return &Polluter{fresh: true} }

// Faults returns the faults of the node that has this key.
func (p *Polluter) Faults(key crypto.PrivKey) swarm.Faults {
	raw, err := key.Raw()
	if err != nil {
		panic(err) // keys of nodes are Ed25519
	}
	return swarm.Faults{Codec: func(link *proto.Link, c payload.Codec) payload.Codec {
		return &polluting{c, p, link, raw}
	}}
}

// polluting is the codec of one swarm of a polluter.
type polluting struct {
	payload.Codec
	*Polluter
	link *proto.Link
	key  ed25519.PrivateKey
}

// Encode implements [payload.Codec].
func (p *polluting) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	buf, err := p.Codec.Encode(to, sp)
	if err == nil && p.On.Load() && p.falsify(buf.B, sp) {
		p.Sent.Add(1)
	}
	return buf, err
}

// falsify changes the frame of a block, and reports whether it did.
func (p *polluting) falsify(frame []byte, sp proto.Span) bool {
	signed := p.link.Coded > 0 && !p.link.Strategy.Gossip()
	public := p.key.Public().(ed25519.PublicKey)
	if p.relay && (!signed || bytes.Contains(frame[:proto.CodedHeader], public)) {
		return false
	}
	frame[len(frame)-1] ^= 1
	if !signed || p.relay {
		return true
	}
	key := p.key
	if p.fresh {
		public, key, _ = ed25519.GenerateKey(nil)
	}
	data := frame[proto.CodedHeader:]
	statement := proto.CodedStatement(p.link.Manifest.Bytes(), p.link.Coded, sp.Piece, sha256.Sum256(data))
	var o proto.Origin
	copy(o.Encoder[:], public)
	copy(o.Signature[:], ed25519.Sign(key, statement))
	proto.AppendCodedHeader(frame[:0], sp.Piece, &o, len(data))
	return true
}
