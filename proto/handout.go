package proto

// Handout answers an [Announce].
type Handout struct {
	_ struct{} `cbor:",toarray"`
	// Interval is the time until the next announce, in seconds.
	Interval uint32
	// Members are the members of the announcer's cluster and a sample of the others,
	// at most [MaxMembers].
	Members []Member
}

// Type implements [Message].
func (*Handout) Type() Type { return TypeHandout }

func (m *Handout) check() error { return checkMembers(m.Members) }
