package proto

import "cmp"

// Member is a node of a swarm as another node or a tracker reports it. Nothing in it is
// proved before the node itself says [Hello].
type Member struct {
	_       struct{} `cbor:",toarray"`
	ID      PeerID
	Cluster string
	// Addrs are binary multiaddrs without the peer id.
	Addrs [][]byte
}

func (m Member) check() error {
	return cmp.Or(checkPeerID(m.ID), CheckCluster(m.Cluster), checkAddrs(m.Addrs))
}

func checkMembers(ms []Member) error { return checkEach("members", ms, MaxMembers, Member.check) }

func checkAddrs(addrs [][]byte) error {
	return checkEach("addresses", addrs, MaxAddrs, func(a []byte) error { return checkSize("address", len(a), MaxAddr) })
}

// Members is peer exchange: nodes that the sender is connected to or knows from a tracker.
// It lets a swarm outlive its trackers.
type Members struct {
	_       struct{} `cbor:",toarray"`
	Members []Member
}

func (m *Members) check() error { return checkMembers(m.Members) }

// PeerID identifies a node. It is opaque to this package and to package mob, which only
// compare it. It holds the bytes of a libp2p peer id.
type PeerID string

// MarshalBinary encodes the id as a byte string. It never fails.
func (id PeerID) MarshalBinary() ([]byte, error) { return []byte(id), nil }

// UnmarshalBinary is the inverse of MarshalBinary. It never fails.
func (id *PeerID) UnmarshalBinary(b []byte) error {
	*id = PeerID(b)
	return nil
}
