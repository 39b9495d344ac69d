package proto

import "fmt"

// Outcast tells a global peer of a member of the sender's own cluster that the sender has
// shown out, because it sent false pieces. It goes to who has set [FeatureOutcast].
type Outcast struct {
	_    struct{} `cbor:",toarray"`
	Peer PeerID
}

// Type implements [Message].
func (*Outcast) Type() Type { return TypeOutcast }

func (m *Outcast) check() error {
	if m.Peer == "" || len(m.Peer) > MaxPeerID {
		return fmt.Errorf("peer id of %d bytes, want 1 to %d", len(m.Peer), MaxPeerID)
	}
	return nil
}
