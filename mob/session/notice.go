package session

import "time"

// Notice is the way in which a peer is sent an update: at all, with the next urgent batch, immediately.
type Notice struct{ Needed, Urgent, Immediate bool }

// ClaimNotice returns how a peer is sent the claim on a fetch: if it is of the group that the piece enters, or of a
// sibling. Members of the group get it immediately, since they might start the piece.
func (p *Peer) ClaimNotice(f *Fetch) Notice {
	return Notice{
		Needed:    f.Concerns(p),
		Urgent:    p.Near() || p.FetchesHere(),
		Immediate: p.Near() && f.Enters(p.Home),
	}
}

// HaveNotice returns how a peer is sent that a piece is stored: if it exchanges pieces with the node, or if the
// piece is new to its group. In a large site other racks need few haves. It is urgent if the piece is new to a group
// that both are in, or if the peer fetches from the node over a link.
func (p *Peer) HaveNotice(i int, calm, batched bool) Notice {
	first := p.Near() && p.Home.Holders[i] == 0
	n := Notice{
		Needed: p.Matched || !p.Near() || p.Level.Holders[i] == 0,
		Urgent: first || p.FetchesHere(),
	}
	switch {
	case !n.Needed:
	case first:
		n.Immediate = calm
	case !p.Local && !batched && p.FetchesHere():
		n.Immediate = p.Box.Early()
	}
	return n
}

// paceBlocks is the number of least blocks that arrive over the WAN between two messages to a peer of
// another site that can wait. A message, its answer and their headers take about 250 bytes.
const paceBlocks = 8

// Pace returns the least time between two pings, and two batches, to a peer of another site. On fast
// links Queue and Batch are longer.
func (t *Table) Pace() time.Duration {
	rate := 0.0
	for _, p := range t.Peers {
		if !p.Near() {
			rate += p.Pipe.Rate()
		}
	}
	if rate == 0 {
		return 0
	}
	return min(time.Duration(float64(paceBlocks*t.Tuning.MinBlock)/rate*float64(time.Second)), t.Tuning.Stall/3)
}
