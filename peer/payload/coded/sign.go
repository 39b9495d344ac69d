package coded

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/mobgrid/mob/proto"
)

// publicKey identifies the node that made a block, its encoder.
type publicKey [ed25519.PublicKeySize]byte

// claim is the signed statement of an encoder that the block of a name has this hash.
type claim struct {
	name    int
	encoder publicKey
	sum     [sha256.Size]byte
}

// sign signs a block that this node made.
func (c *namedContent) sign(number uint32, data []byte) *proto.Origin {
	statement := proto.CodedStatement(c.swarm, c.Coding.K, number, sha256.Sum256(data))
	var o proto.Origin
	copy(o.Encoder[:], c.key.Public().(ed25519.PublicKey))
	copy(o.Signature[:], ed25519.Sign(c.key, statement))
	return &o
}

// check reports whether the signature of a block is valid, and sets its hash. The caller
// holds the lock of the generation.
func (c *namedContent) check(generation int, b *namedBlock) bool {
	if b.checked {
		return true
	}
	b.sum = sha256.Sum256(b.payload)
	statement := proto.CodedStatement(c.swarm, c.Coding.K, c.number(generation, b.name), b.sum)
	b.checked = ed25519.Verify(b.origin.Encoder[:], statement, b.origin.Signature[:])
	return b.checked
}
