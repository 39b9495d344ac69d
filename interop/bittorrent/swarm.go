package bittorrent

import (
	"context"
	"net"
	"net/netip"

	"github.com/mobgrid/mob/peer"
)

// swarm is one transfer, and the host of its guests.
type swarm struct {
	*lobby
	transfer *peer.Transfer
	torrent  *Torrent
	done     chan struct{} // closed when the content is whole
}

// Attach is the AttachExternal of a node: it lets guests into a transfer's swarm while
// that runs.
func (s *Server) Attach(ctx context.Context, t *peer.Transfer) {
	torrent := s.cfg.Torrent(t)
	if torrent == nil {
		return
	}
	sw := newSwarm(ctx, s, t, torrent)
	go sw.await()
	if err := s.open(sw.lobby); err != nil {
		sw.cancel(err)
		s.log.Warn("the content is not offered to BitTorrent clients", "content", t.ID.String(), "error", err)
	}
}

func newSwarm(ctx context.Context, s *Server, t *peer.Transfer, torrent *Torrent) *swarm {
	sw := &swarm{transfer: t, torrent: torrent, done: make(chan struct{})}
	sw.lobby = s.newLobby(ctx, torrent.Hash, sw)
	sw.trackers = torrent.Trackers
	sw.contacts.add(torrent.Peers)
	return sw
}

// await notes when the content is whole.
func (s *swarm) await() {
	if s.transfer.Wait(s.ctx) == nil {
		close(s.done)
	}
}

func (s *swarm) whole() <-chan struct{} { return s.done }

func (s *swarm) standing() standing {
	st := s.transfer.Progress()
	now := standing{downloaded: st.Traffic.WANIn + st.Traffic.LANIn, uploaded: st.Traffic.WANOut + st.Traffic.LANOut}
	if st.Phase != peer.Whole && st.Length >= 0 {
		now.left = st.Length - st.Have
	}
	return now
}

func (s *swarm) talk(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) error {
	g, err := s.newGuest(conn, at, theirs, dialed)
	if err != nil {
		return err
	}
	defer s.leave(g)
	return g.run()
}

// leave forgets a guest that was admitted.
func (s *swarm) leave(g *guest) {
	if g.joined {
		s.forget(g.theirs.id)
	}
}
