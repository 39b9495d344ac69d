package proto

import "fmt"

// Member is a node of a swarm as another node or a tracker reports it. Nothing in it is
// proved before the node itself says [Hello].
type Member struct {
	_       struct{} `cbor:",toarray"`
	ID      PeerID
	Cluster string
	// Addrs are binary multiaddrs without the peer id.
	Addrs [][]byte
}

func (m *Member) check() error {
	if err := checkPeerID(m.ID); err != nil {
		return err
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	return checkAddrs(m.Addrs)
}

func checkMembers(ms []Member) error {
	if len(ms) > MaxMembers {
		return fmt.Errorf("%d members, at most %d", len(ms), MaxMembers)
	}
	for i := range ms {
		if err := ms[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func checkAddrs(addrs [][]byte) error {
	if len(addrs) > MaxAddrs {
		return fmt.Errorf("%d addresses, at most %d", len(addrs), MaxAddrs)
	}
	for _, a := range addrs {
		if len(a) == 0 || len(a) > MaxAddr {
			return fmt.Errorf("address of %d bytes, want 1 to %d", len(a), MaxAddr)
		}
	}
	return nil
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
