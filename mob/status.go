package mob

import "time"

// Status is a snapshot of a State, for people.
type Status struct {
	Have, Total int
	// Fetching counts the pieces on their way.
	Fetching int
	// Rank and Size are the node's place in its mob.
	Rank, Size int
	// Settling says that WAN fetching waits for news of the own cluster.
	Settling bool
	// Available counts the lacking pieces that some peer has.
	Available int
	Peers     []PeerStatus
}

// PeerStatus is one joined peer.
type PeerStatus struct {
	Node
	Local bool
	// Have counts the pieces that it told of; of a global peer that is at most
	// what this node wishes to hear of.
	Have int
	// Rate is in bytes per second while blocks are owed; InFlight in bytes.
	Rate     float64
	InFlight int
	RTT      time.Duration
	Stalled  bool
}

// Status takes the snapshot.
func (s *State) Status() Status {
	st := Status{
		Have: s.have.Len(), Total: s.pieces, Fetching: len(s.fetches),
		Rank: s.rank, Size: s.size, Settling: s.Settling(),
	}
	for _, p := range s.peers {
		ps := PeerStatus{Node: p.Node, Local: p.local, Have: p.have.Len(), InFlight: p.inFlight, RTT: p.rtt, Stalled: p.stalled}
		if p.busy() {
			ps.Rate = p.meter.rate()
		}
		st.Peers = append(st.Peers, ps)
	}
	for i := range s.wanted.All() {
		if s.holders[i] > 0 || s.rarity[i] > 0 {
			st.Available++
		}
	}
	return st
}

// Settling says that WAN fetching waits for news of the own cluster.
func (s *State) Settling() bool { return !s.have.Full() && !s.mayFetchWAN() }

// Has says whether piece i is stored.
func (s *State) Has(i int) bool { return s.have.Has(i) }
