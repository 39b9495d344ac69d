package proto

import (
	"cmp"
	"errors"
	"fmt"
)

// Permutation gives the members of a cluster the cyclic orders in which they send to each
// other in permutation gossip.
type Permutation struct {
	_ struct{} `cbor:",toarray"`
	// Version orders permutations: the highest is in force, and of two with the same
	// version the one whose sender has the lower id.
	Version uint64
	// Seed is the seed that the orders are drawn with.
	Seed uint64
	// Members are the members in the order of their ids. Since is, for each of them,
	// the first generation that the other members wait for it to decode.
	Members []PeerID
	Since   []uint32
}

func (m *Permutation) check() error {
	if len(m.Members) > MaxMembers || len(m.Members) != len(m.Since) {
		return fmt.Errorf("permutation of %d members, at most %d, with %d generations",
			len(m.Members), MaxMembers, len(m.Since))
	}
	last := PeerID("")
	for i, id := range m.Members {
		if id <= last || len(id) > MaxPeerID {
			return errors.New("members of a permutation are not peer ids in ascending order")
		}
		if m.Since[i] >= MaxPieces {
			return fmt.Errorf("bad generation %d", m.Since[i])
		}
		last = id
	}
	return nil
}

// Decoded updates the set of generations that need no more blocks at the sender, in permutation
// gossip. Generations are decoded or about to be. Lost are generations listed earlier that failed
// their hashes, so the sender needs blocks again.
type Decoded struct {
	_           struct{} `cbor:",toarray"`
	Generations []Range
	Lost        []Range
}

func (m *Decoded) check() error {
	return cmp.Or(checkRanges("decoded", m.Generations), checkRanges("lost", m.Lost))
}

// Holds lists the plain blocks of a generation that the sender has, as a bitmap: the first
// block is the lowest bit of the first byte.
type Holds struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
	Blocks     []byte
}

func (m *Holds) check() error {
	if m.Generation >= MaxPieces || len(m.Blocks) > (MaxCodedK+7)/8 {
		return fmt.Errorf("bad bitmap of %d bytes for generation %d", len(m.Blocks), m.Generation)
	}
	return nil
}

// Taken acknowledges a [GossipBlock]: the sender is ready for the next one.
type Taken struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
}

func (m *Taken) check() error {
	if m.Generation >= MaxPieces {
		return fmt.Errorf("bad generation %d", m.Generation)
	}
	return nil
}
