package proto

import "fmt"

// Announce tells a tracker of a member, and asks it for others.
type Announce struct {
	_ struct{} `cbor:",toarray"`
	// Swarm is a key of the swarm, see [Link.Keys].
	Swarm []byte
	// Cluster is the member's cluster.
	Cluster string
	// Addrs are the binary multiaddrs at which the member accepts connections.
	Addrs [][]byte
	// Have and Total count the member's pieces and the content's; Total is 0
	// while the member does not have the manifest.
	Have  uint32
	Total uint32
	// Leaving says that the member goes now and is to be forgotten.
	Leaving bool
}

// Type implements [Message].
func (*Announce) Type() Type { return TypeAnnounce }

func (m *Announce) check() error {
	if err := checkCID(m.Swarm); err != nil {
		return err
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	if m.Total > MaxPieces || m.Have > m.Total {
		return fmt.Errorf("%d of %d pieces", m.Have, m.Total)
	}
	return checkAddrs(m.Addrs)
}

// Handout answers an [Announce].
type Handout struct {
	_ struct{} `cbor:",toarray"`
	// Interval is when to announce again, in seconds.
	Interval uint32
	// Members are the cluster of who announced and a sample of the others, at
	// most [MaxMembers].
	Members []Member
}

// Type implements [Message].
func (*Handout) Type() Type { return TypeHandout }

func (m *Handout) check() error { return checkMembers(m.Members) }

// FleetRequest asks a tracker how far a swarm is.
type FleetRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*FleetRequest) Type() Type { return TypeFleetRequest }

func (m *FleetRequest) check() error { return checkCID(m.Swarm) }

// Fleet answers a [FleetRequest].
type Fleet struct {
	_        struct{} `cbor:",toarray"`
	Clusters []FleetCluster
}

// FleetCluster is the progress of one cluster.
type FleetCluster struct {
	_     struct{} `cbor:",toarray"`
	Name  string
	Nodes uint32
	// Whole counts the nodes that have every piece.
	Whole uint32
	// Missing counts the pieces that the nodes still lack, added up.
	Missing uint64
}

// Type implements [Message].
func (*Fleet) Type() Type { return TypeFleet }

func (m *Fleet) check() error {
	if len(m.Clusters) > MaxClusters {
		return fmt.Errorf("%d clusters, at most %d", len(m.Clusters), MaxClusters)
	}
	for _, c := range m.Clusters {
		if err := CheckCluster(c.Name); err != nil {
			return err
		}
		if c.Whole > c.Nodes {
			return fmt.Errorf("cluster %q: %d of %d nodes", c.Name, c.Whole, c.Nodes)
		}
	}
	return nil
}

// ManifestRequest asks a peer for the manifest of Swarm, by any of its keys.
type ManifestRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*ManifestRequest) Type() Type { return TypeManifestRequest }

func (m *ManifestRequest) check() error { return checkCID(m.Swarm) }

// ManifestReply comes before the Length bytes of the manifest, which follow the
// frame as they are.
type ManifestReply struct {
	_      struct{} `cbor:",toarray"`
	Length uint32
}

// Type implements [Message].
func (*ManifestReply) Type() Type { return TypeManifestReply }

func (m *ManifestReply) check() error {
	if m.Length == 0 || m.Length > MaxManifest {
		return fmt.Errorf("manifest of %d bytes, want 1 to %d", m.Length, MaxManifest)
	}
	return nil
}
