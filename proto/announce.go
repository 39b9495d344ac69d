package proto

import (
	"cmp"
	"fmt"
)

// Announce registers a member with a tracker, which answers with [AnnounceReply].
type Announce struct {
	_ struct{} `cbor:",toarray"`
	// Swarm is a key of the swarm, see [Link.Keys].
	Swarm   []byte
	Cluster string
	// Addrs are the binary multiaddrs at which the member accepts connections.
	Addrs [][]byte
	// Have and Total are the number of pieces that the member has and that the content
	// has. Total is 0 while the member does not have the manifest.
	Have    uint32
	Total   uint32
	Leaving bool
	// Received and Measured follow the message in its stream, unless they are nil. They are not part of it.
	Received *Received `cbor:"-"`
	Measured *Measured `cbor:"-"`
}

func (m *Announce) check() error {
	if m.Total > MaxPieces || m.Have > m.Total {
		return fmt.Errorf("%d of %d pieces", m.Have, m.Total)
	}
	return cmp.Or(checkKey(m.Swarm), CheckCluster(m.Cluster), checkAddrs(m.Addrs))
}

// AnnounceReply answers an [Announce].
type AnnounceReply struct {
	_ struct{} `cbor:",toarray"`
	// Interval is the time until the next announce, in seconds.
	Interval uint32
	// Members are the members of the announcer's cluster and a sample of the other members,
	// at most [MaxMembers].
	Members []Member
}

func (m *AnnounceReply) check() error { return checkMembers(m.Members) }
