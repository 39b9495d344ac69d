package peer

import (
	"context"
	"fmt"

	"github.com/mobgrid/mob/peer/swarm"
)

// Stats are the numbers of a node for monitoring: all its transfers together.
type Stats struct {
	// Totals are counted from the start of the node, and include removed transfers.
	Totals swarm.Totals
	// Transfers counts the transfers in each phase.
	Transfers map[Phase]int
	// Clusters has the connected peers of each cluster. A peer counts once in each transfer.
	Clusters map[string]swarm.ClusterStatus
	// Damaged and Unreadable count pieces that are not served at present.
	Damaged, Unreadable int
	// Isolated counts the transfers that reach no member of the own site, see [Isolation].
	Isolated int
}

// Stats returns the numbers of the node. It waits neither for the disk nor for the network, and costs
// less than a [Transfer.Status] of each transfer.
func (n *Node) Stats() Stats {
	st := Stats{Transfers: map[Phase]int{}, Clusters: map[string]swarm.ClusterStatus{}}
	for _, s := range n.transfers.count(&st) {
		s.AddClusters(st.Clusters)
		damaged, unreadable, _ := s.OutOfService()
		st.Damaged += len(damaged)
		st.Unreadable += unreadable
		if s.Isolation() != nil {
			st.Isolated++
		}
	}
	return st
}

// count counts the transfers and their totals, and returns the running swarms.
func (r *registry) count(st *Stats) (swarms []*swarm.Swarm) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Totals = r.ended
	for _, t := range r.byID {
		s := t.state()
		st.Transfers[s.phase]++
		st.Totals.Add(&s.past)
		if s.swarm != nil {
			swarms = append(swarms, s.swarm)
			totals := s.swarm.Totals()
			st.Totals.Add(&totals)
		}
	}
	return swarms
}

// Probe waits until the loop of every transfer has answered, and fails if ctx ends before: the node hangs.
func (n *Node) Probe(ctx context.Context) error {
	for _, s := range n.transfers.count(&Stats{Transfers: map[Phase]int{}}) {
		if err := s.Probe(ctx); err != nil {
			return fmt.Errorf("a transfer does not answer: %w", err)
		}
	}
	return nil
}
