package coded

import (
	"strings"

	"github.com/mobgrid/mob/proto"
)

// A polluter could sign each block with a new key, and no node would find the peer behind it. So a
// block is taken only if its encoder is the sender, a joined peer, or a member that a tracker named.

// signers decides which encoders' blocks are taken. The lock of its content guards it.
type signers struct {
	polluters map[publicKey]bool
	members   members
}

// members is the part of [payload.Swarm] that decides whether an encoder is known.
type members interface {
	IsPeer(id proto.PeerID) bool
	IsMember(id proto.PeerID) bool
}

// signs reports whether a node signs with a key: its id ends in it.
func signs(id proto.PeerID, k publicKey) bool { return strings.HasSuffix(string(id), string(k[:])) }

// admits reports whether a block is taken, by its encoder and its sender. If not, the sender is not at
// fault: it may know other members.
func (s *signers) admits(encoder publicKey, sender proto.PeerID) bool {
	if s.polluters[encoder] {
		return false
	}
	id := peerOf(encoder)
	return signs(sender, encoder) || s.members.IsPeer(id) || s.members.IsMember(id)
}
