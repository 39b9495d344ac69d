package proto

// Members is peer exchange: nodes that the sender is connected to or knows from a tracker.
// It lets a swarm outlive its trackers.
type Members struct {
	_       struct{} `cbor:",toarray"`
	Members []Member
}

// Type implements [Message].
func (*Members) Type() Type { return TypeMembers }

func (m *Members) check() error { return checkMembers(m.Members) }
