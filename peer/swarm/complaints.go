package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
)

// maxComplaints is how many complaints may wait to be checked; further ones are dropped.
const maxComplaints = 64

// complain has a stored piece checked of which a peer says, or this node suspects, that it
// is damaged.
func (s *Swarm) complain(c payload.Complaint) {
	if int(c.Piece) >= s.m.Pieces() || !s.st.Has(int(c.Piece)) {
		return
	}
	select {
	case s.complaints <- c:
	default:
	}
}

// checkComplaints hashes the pieces that peers complain of, one at a time.
func (s *Swarm) checkComplaints() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case c := <-s.complaints:
			s.checkPiece(c)
		}
	}
}

// checkPiece hashes a stored piece. One that is damaged is not offered any more.
func (s *Swarm) checkPiece(c payload.Complaint) {
	if !s.st.Has(int(c.Piece)) {
		return
	}
	good, err := store.Check(s.st, s.m, int(c.Piece))
	if err == nil && good {
		from, _ := c.Peer.(*session)
		s.post(strategyEvent{mob.Checked{Peer: c.Peer.ID(), Piece: int(c.Number)}, from})
		return
	}
	s.damaged.Add(1)
	s.log.Error("content changed on disk: the piece is not offered any more", "piece", c.Piece, "error", err)
	if err := s.st.Forget(int(c.Piece)); err != nil {
		s.log.Error("journal", "error", err)
	}
	switch {
	case s.form.Coded != nil:
		s.form.Coded.Forget(c.Piece)
	case s.form.Gossip != nil:
		s.form.Gossip.Forget(c.Piece)
	default:
		s.post(strategyEvent{mob.Lost{Piece: int(c.Piece)}, nil})
	}
	s.AnnounceSoon()
}
