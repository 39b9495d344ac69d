package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// Status is a snapshot of a [Strategy], for people.
type Status struct {
	// Have counts the pieces that are stored, of Total.
	Have, Total int
	// Fetching counts the pieces that are requested of a peer.
	Fetching int
	// Rank and Size are the node's rank in its site, and the number of members.
	Rank, Size int
	// Settling is true while fetching over the WAN waits for the announcements of the own site.
	Settling bool
	// Available counts the missing pieces that some peer has.
	Available int
	// Lacking lists the missing pieces that no peer has. Rotten counts the ones that came and were bad.
	Lacking []proto.Range
	Rotten  int
	// Stalls counts the times that a peer left requests unanswered, since the start.
	Stalls int64
	// Parents is the number of hosts that send to the node in its plan, and Followed the number of them that
	// it requests their pieces of. Other pieces are fetched as in any swarm.
	Parents, Followed int
	Peers             []PeerStatus
}

// PeerStatus is one joined peer.
type PeerStatus struct {
	Node
	Local bool
	// Have counts the pieces that it announced. A peer of another cluster announces only subscribed pieces.
	Have int
	// Done is true for a peer of the own site that fetches nothing more. It may have a part of the content.
	Done bool
	// Rate is in bytes per second while requests are outstanding, and InFlight in bytes.
	Rate     float64
	InFlight int
	RTT      time.Duration
	// Queue is the time that the last ping of a remote peer waited in queues.
	Queue   time.Duration
	Stalled bool
}

// Status implements [Strategy].
func (s *State) Status() Status {
	site := s.Site()
	st := Status{
		Have:     s.Stored.Have.Len(),
		Total:    s.Layout.Count,
		Rank:     site.Rank,
		Size:     site.Size,
		Settling: !s.Stored.Have.Full() && !s.roster.MayFetch(site.Group),
		Stalls:   s.book.Stalls,
		Fetching: s.Fetching(),
	}
	st.Parents, st.Followed = s.Work.Parents()
	for _, p := range s.Peers {
		ps := PeerStatus{
			Node:     p.Member,
			Local:    p.Local,
			Have:     p.Have.Len(),
			Done:     p.Near() && p.Box.Idle(),
			InFlight: p.Pipe.InFlight(),
			RTT:      p.Pipe.Least,
			Queue:    p.Pipe.Queue,
			Stalled:  p.Stalled,
		}
		if p.Pipe.Busy() {
			ps.Rate = p.Pipe.Rate()
		}
		st.Peers = append(st.Peers, ps)
	}
	for i := range s.Missing().All() {
		if site.Holders[i] > 0 || site.Rarity[i] > 0 {
			st.Available++
			continue
		}
		st.Lacking = bitset.Append(st.Lacking, i)
		if s.book.Bad(i) {
			st.Rotten++
		}
	}
	return st
}
