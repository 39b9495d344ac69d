package session

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
		Urgent: first && (calm || batched) || p.FetchesHere(),
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
