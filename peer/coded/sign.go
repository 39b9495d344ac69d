package coded

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/mobgrid/mob/proto"
)

// Key is the public key of a node that makes blocks.
type Key [ed25519.PublicKeySize]byte

// claim is what an encoder said: that the block of a name has this hash.
type claim struct {
	name    int
	encoder Key
	sum     [sha256.Size]byte
}

// sign says that this node made a block.
func (c *Content) sign(number uint32, payload []byte) (o proto.Origin) {
	statement := proto.CodedStatement(c.cfg.Swarm, c.coding.K, number, sha256.Sum256(payload))
	copy(o.Encoder[:], c.cfg.Key.Public().(ed25519.PublicKey))
	copy(o.Signature[:], ed25519.Sign(c.cfg.Key, statement))
	return o
}

// signed reports whether the encoder made the block, and the payload's hash.
func (c *Content) signed(number uint32, o *proto.Origin, payload []byte) (sum [sha256.Size]byte, ok bool) {
	sum = sha256.Sum256(payload)
	return sum, ed25519.Verify(o.Encoder[:], proto.CodedStatement(c.cfg.Swarm, c.coding.K, number, sum), o.Signature[:])
}
