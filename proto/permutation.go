package proto

import (
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
	// the first generation that the others wait for it to decode.
	Members []PeerID
	Since   []uint32
}

// Type implements [Message].
func (*Permutation) Type() Type { return TypePermutation }

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
