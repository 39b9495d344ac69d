package proto

import (
	"cmp"
	"fmt"
)

// TopologyRequest asks a tracker for the measurements of a swarm's members. It answers with [Topology].
type TopologyRequest struct {
	_ struct{} `cbor:",toarray"`
	// Swarm is a key of the swarm, see [Link.Keys].
	Swarm []byte
}

func (m *TopologyRequest) check() error { return checkKey(m.Swarm) }

// Topology answers a [TopologyRequest].
type Topology struct {
	_ struct{} `cbor:",toarray"`
	// Hosts are members, at most [MaxMembers], without addresses. One whose name is not known has
	// its id, as people write it.
	Hosts []Host
	Links []TopologyLink
}

// TopologyLink is the way from one cluster, site or rack to another, in one direction.
type TopologyLink struct {
	_        struct{} `cbor:",toarray"`
	From, To string
	// Rate is the most payload that went this way in three seconds, in bytes per second. Full reports
	// whether this is about the capacity: the receivers observed a full queue at about this rate.
	Rate uint64
	Full bool
	// RTT is the shortest round trip in microseconds, 0 if it is not known.
	RTT uint32
	// Sent counts segments on bulk sockets, and Lost the retransmitted segments among them.
	Sent, Lost uint64
}

func (m *Topology) check() error {
	return cmp.Or(checkEach("hosts", m.Hosts, MaxMembers, Host.check), checkEach("links", m.Links, MaxTopologyLinks, TopologyLink.check))
}

func (l TopologyLink) check() error {
	if l.Rate > maxRate || l.Lost > l.Sent {
		return fmt.Errorf("link from %s to %s: rate or loss count out of range", l.From, l.To)
	}
	return cmp.Or(CheckCluster(l.From), CheckCluster(l.To))
}
