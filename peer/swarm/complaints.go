package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
)

// maxComplaints is how many complaints may wait to be checked; further ones are dropped.
const maxComplaints = 64

// Complain implements [payload.Swarm].
func (s *Swarm) Complain(c payload.Complaint) {
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
		s.Post(mob.Checked{Peer: c.Peer.ID(), Piece: int(c.Number)}, c.Peer)
		return
	}
	s.damaged.Add(1)
	s.log.Error("content changed on disk: the piece is not offered any more", "piece", c.Piece, "error", err)
	if err := s.st.Forget(int(c.Piece)); err != nil {
		s.log.Error("journal", "error", err)
	}
	s.codec.Forget(int(c.Piece))
	s.AnnounceSoon()
}
