package proto

// AnnounceReply answers an [Announce].
type AnnounceReply struct {
	_ struct{} `cbor:",toarray"`
	// Interval is the time until the next announce, in seconds.
	Interval uint32
	// Members are the members of the announcer's cluster and a sample of the others,
	// at most [MaxMembers].
	Members []Member
}

// Type implements [Message].
func (*AnnounceReply) Type() Type { return TypeAnnounceReply }

func (m *AnnounceReply) check() error { return checkMembers(m.Members) }
