package coded

import (
	"strings"

	"github.com/mobgrid/mob/proto"
)

// A polluter could sign each block with a new key, and nobody would find the node behind it. So a key is
// trusted if it is that of the sender, of another peer or of a member that a tracker told of, or if a block
// of it was in a generation that was right. Blocks of other keys are decoded, but not passed on. The node
// that sends the first block of a key which is no peer's introduces it. It may introduce few keys at a time
// that are not trusted, and fewer for each that was a polluter's.
const (
	// maxIntroduced is how many keys a node may introduce before blocks of them prove right, and
	// polluterCost how many of these a polluter among them takes for good.
	maxIntroduced = 32
	polluterCost  = 8
	// maxSigners bounds the keys, and maxIntroducers the nodes, that are remembered.
	maxSigners     = 8192
	maxIntroducers = 4096
)

// signers is what is known of the nodes that sign blocks and of those that send them. The lock of its
// content guards it.
type signers struct {
	known       map[publicKey]*signer
	introducers map[proto.PeerID]*introducer
	polluters   map[publicKey]bool
	// isPeer reports whether a node is connected, and isMember whether a tracker told of it. Nil stands
	// for no.
	isPeer, isMember func(proto.PeerID) bool
}

// signer is a key that signed blocks.
type signer struct {
	trusted bool
	by      *introducer // nil if it is a peer's
}

// introducer is a node that sends blocks of others.
type introducer struct {
	id        proto.PeerID
	open      int // keys that it introduced and that are not trusted
	polluters int // those that were polluters'
}

func newSigners(isPeer, isMember func(proto.PeerID) bool) signers {
	return signers{
		known:       map[publicKey]*signer{},
		introducers: map[proto.PeerID]*introducer{},
		polluters:   map[publicKey]bool{},
		isPeer:      isPeer,
		isMember:    isMember,
	}
}

// signs reports whether a node signs with a key: its id ends in it.
func signs(id proto.PeerID, k publicKey) bool { return strings.HasSuffix(string(id), string(k[:])) }

// admit reports whether a block is taken, by its encoder and its sender. If not, the sender is not to
// blame: it may not know the encoder either, or trust it.
func (s *signers) admit(encoder publicKey, sender proto.PeerID) bool {
	if s.polluters[encoder] {
		return false
	}
	k := s.known[encoder]
	if k != nil && k.trusted {
		return true
	}
	id := peerOf(encoder)
	peer := signs(sender, encoder) || s.isPeer != nil && s.isPeer(id)
	trusted := peer || s.isMember != nil && s.isMember(id)
	if k != nil {
		if trusted {
			s.trust(encoder)
		}
		return true
	}
	k = &signer{trusted: trusted}
	if !peer {
		k.by = s.introducer(sender)
	}
	if !trusted {
		if k.by.open+polluterCost*k.by.polluters >= maxIntroduced {
			return false
		}
		k.by.open++
	}
	s.remember(encoder, k)
	return true
}

// trusts reports whether blocks of an encoder may be passed on.
func (s *signers) trusts(encoder publicKey) bool {
	k := s.known[encoder]
	return k != nil && k.trusted
}

// remember notes a key, and forgets any that is trusted if there are too many.
func (s *signers) remember(encoder publicKey, k *signer) {
	if len(s.known) >= maxSigners {
		for old, k := range s.known {
			if k.trusted {
				delete(s.known, old)
				break
			}
		}
	}
	s.known[encoder] = k
}

// introducer returns what is known of a sender, and forgets any if there are too many.
func (s *signers) introducer(sender proto.PeerID) *introducer {
	in := s.introducers[sender]
	if in == nil {
		if len(s.introducers) >= maxIntroducers {
			for id := range s.introducers {
				delete(s.introducers, id)
				break
			}
		}
		in = &introducer{id: sender}
		s.introducers[sender] = in
	}
	return in
}

// trust notes that an encoder signed a block that was right, and reports whether it is trusted only now.
func (s *signers) trust(encoder publicKey) bool {
	k := s.known[encoder]
	if k == nil || k.trusted {
		return false
	}
	k.trusted = true
	k.by.open--
	return true
}

// pollutes notes that an encoder signed a false block, and reports whether that is news. The node that
// introduced it, if any, is returned: it vouched for the encoder, also if that was right before.
func (s *signers) pollutes(encoder publicKey) (by proto.PeerID, news bool) {
	if s.polluters[encoder] {
		return "", false
	}
	s.polluters[encoder] = true
	k := s.known[encoder]
	delete(s.known, encoder)
	if k == nil || k.by == nil {
		return "", true
	}
	if !k.trusted {
		k.by.open--
	}
	k.by.polluters++
	return k.by.id, true
}
