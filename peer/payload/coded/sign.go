package coded

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/mobgrid/mob/proto"
)

// Key is the public key of a node that makes blocks.
type Key [ed25519.PublicKeySize]byte

// claim is what an encoder signed: that the block of a name has this hash.
type claim struct {
	name   int
	author Key
	sum    [sha256.Size]byte
}

// sign says that this node made a block.
func (c *Content) sign(number uint32, payload []byte) (o proto.Origin) {
	statement := proto.CodedStatement(c.cfg.Swarm, c.Coding.K, number, sha256.Sum256(payload))
	copy(o.Encoder[:], c.cfg.Key.Public().(ed25519.PublicKey))
	copy(o.Signature[:], ed25519.Sign(c.cfg.Key, statement))
	return o
}

// check reports whether a block is what its author said, and finds its hash. The
// caller has the lock of the generation.
func (c *Content) check(generation int, b *held) bool {
	if b.checked {
		return true
	}
	b.sum = sha256.Sum256(b.payload)
	statement := proto.CodedStatement(c.cfg.Swarm, c.Coding.K, c.Number(generation, b.name), b.sum)
	b.checked = ed25519.Verify(b.origin.Encoder[:], statement, b.origin.Signature[:])
	return b.checked
}
