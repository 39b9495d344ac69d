package proto

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Member is a node of a swarm as others tell of it. What it says is hearsay
// until the node itself says Hello.
type Member struct {
	_       struct{} `cbor:",toarray"`
	ID      PeerID
	Cluster string
	// Addrs are binary multiaddrs without the peer id.
	Addrs [][]byte
}

func (m *Member) check() error {
	if m.ID == "" || len(m.ID) > MaxPeerID {
		return fmt.Errorf("peer id of %d bytes, want 1 to %d", len(m.ID), MaxPeerID)
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	return checkAddrs(m.Addrs)
}

// Members is peer exchange: nodes that the sender is connected to or was told
// of by a tracker. With it a swarm outlives its trackers.
type Members struct {
	_       struct{} `cbor:",toarray"`
	Members []Member
}

// Type implements [Message].
func (*Members) Type() Type { return TypeMembers }

func (m *Members) check() error { return checkMembers(m.Members) }

// Goodbye ends a control stream and says why. On a manifest or tracker stream it
// is the reply that refuses the request.
type Goodbye struct {
	_ struct{} `cbor:",toarray"`
	// Code is what a program acts on; one that it does not know is a failure.
	Code Code
	// Text is for people: UTF-8, at most [MaxText] bytes, may be empty.
	Text string
}

// Type implements [Message].
func (*Goodbye) Type() Type { return TypeGoodbye }

func (m *Goodbye) check() error {
	if len(m.Text) > MaxText {
		return fmt.Errorf("text of %d bytes, at most %d", len(m.Text), MaxText)
	}
	if !utf8.ValidString(m.Text) {
		return errors.New("text is not valid UTF-8")
	}
	return nil
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
