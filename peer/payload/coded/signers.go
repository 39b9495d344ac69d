package coded

import "github.com/mobgrid/mob/proto"

// A polluter could sign each block with a new key, and no node would find the peer behind it. So a
// block is taken only if its encoder is the sender, a joined peer, or a member that a tracker named.

// peerOf returns the node that signs with a key: the peer id of an Ed25519 key has the key itself.
func peerOf(k publicKey) proto.PeerID { return "\x00\x24\x08\x01\x12\x20" + proto.PeerID(k[:]) }

// admits reports whether a block is taken, by its encoder and its sender. If not, the sender is not at
// fault: it may know other members.
func (c *namedContent) admits(b *namedBlock) bool {
	c.mu.Lock()
	polluter := c.polluters[b.encoder]
	c.mu.Unlock()
	id := peerOf(b.encoder)
	return !polluter && (b.sender == id || c.knows(id))
}
