package coded

import "github.com/mobgrid/mob/proto"

// A polluter could sign each block with a new key, and nobody would find the node behind it. So a key is
// trusted if it is that of the sender or of another peer, which can be banned, or if a generation was right
// that has a block of it. Any other key is introduced by the node that sends its first block, and a
// node may introduce few at a time, fewer for each that was a polluter's, and none in the end. Honest
// nodes forward blocks of encoders that the receiver has not met, but it soon has.
const (
	// maxIntroduced is how many keys a node may introduce before blocks of them prove right, and
	// polluterCost how many of these a polluter among them takes for good.
	maxIntroduced = 32
	polluterCost  = 8
	// maxRefused is how many blocks of unknown encoders a node may send beyond that, and beyond as
	// many as proved right, if it introduced a polluter.
	maxRefused = 16
	// maxSigners bounds the keys, and maxIntroducers the nodes, that are remembered.
	maxSigners     = 8192
	maxIntroducers = 4096
)

// signers is what is known of the nodes that sign blocks and of those that send them. The lock of its
// content guards it.
type signers struct {
	// known has the introducer of each key, nil for one that is trusted.
	known       map[publicKey]*introducer
	introducers map[proto.PeerID]*introducer
	polluters   map[publicKey]bool
	// isPeer reports whether a node is connected. Nil stands for no.
	isPeer func(proto.PeerID) bool
}

// introducer is a node that sends blocks.
type introducer struct {
	open      int // keys that it introduced and that did not prove right
	polluters int // those that were polluters'
	right     int // blocks of it in generations that were right
	refused   int
}

func newSigners(isPeer func(proto.PeerID) bool) signers {
	return signers{
		known:       map[publicKey]*introducer{},
		introducers: map[proto.PeerID]*introducer{},
		polluters:   map[publicKey]bool{},
		isPeer:      isPeer,
	}
}

// admission says whether a block is taken.
type admission int

const (
	admitted admission = iota
	// unwanted: its encoder is a polluter, or unknown. Its sender is not to blame.
	unwanted
	// abusive: its sender sends many blocks that are unwanted.
	abusive
)

// admit decides on a block by its encoder and its sender.
func (s *signers) admit(encoder publicKey, sender proto.PeerID) admission {
	if s.polluters[encoder] {
		return unwanted
	}
	if _, known := s.known[encoder]; known {
		return admitted
	}
	if id := peerOf(encoder); id == sender || s.isPeer != nil && s.isPeer(id) {
		s.remember(encoder, nil)
		return admitted
	}
	in := s.introducer(sender)
	if in.open+polluterCost*in.polluters < maxIntroduced {
		in.open++
		s.remember(encoder, in)
		return admitted
	}
	in.refused++
	if in.polluters > 0 && in.refused > maxRefused+in.right {
		return abusive
	}
	return unwanted
}

// remember notes a key, and forgets any if there are too many.
func (s *signers) remember(encoder publicKey, in *introducer) {
	if len(s.known) >= maxSigners {
		for k, in := range s.known {
			if in == nil {
				delete(s.known, k)
				break
			}
		}
	}
	s.known[encoder] = in
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
		in = new(introducer)
		s.introducers[sender] = in
	}
	return in
}

// proved notes that a block was right.
func (s *signers) proved(b *namedBlock) {
	s.trust(b.encoder)
	s.introducer(b.sender).right++
}

// trust notes that an encoder signed a block that was right.
func (s *signers) trust(encoder publicKey) {
	if in := s.known[encoder]; in != nil {
		in.open--
		s.known[encoder] = nil
	}
}

// pollutes notes that an encoder signed a false block, and reports whether that is news.
func (s *signers) pollutes(encoder publicKey) bool {
	if s.polluters[encoder] {
		return false
	}
	s.polluters[encoder] = true
	if in := s.known[encoder]; in != nil {
		in.open--
		in.polluters++
	}
	delete(s.known, encoder)
	return true
}
