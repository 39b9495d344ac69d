package bittorrent

import (
	"context"

	"github.com/mobgrid/mob/peer"
)

// swarm connects the clients of a torrent to a transfer. It is the handler that makes
// them external peers.
type swarm struct {
	*connManager
	transfer *peer.Transfer
	torrent  *Torrent
	done     chan struct{} // closed when the content is complete
}

// Attach attaches clients to a transfer while its swarm runs. It is for
// [peer.Config.AttachExternal].
func (s *Server) Attach(ctx context.Context, t *peer.Transfer) {
	torrent := s.cfg.Torrent(t)
	if torrent == nil {
		return
	}
	sw := newSwarm(ctx, s, t, torrent)
	go sw.waitComplete()
	s.run(sw.connManager)
}

func newSwarm(ctx context.Context, s *Server, t *peer.Transfer, torrent *Torrent) *swarm {
	sw := &swarm{transfer: t, torrent: torrent, done: make(chan struct{})}
	h := handler{handle: sw.handle, progress: sw.progress, complete: sw.done}
	sw.connManager = s.newConnManager(ctx, torrent.Hash, h, s.cfg.Log.With("content", t.ShortName()))
	sw.trackers, sw.named = torrent.Trackers, torrent.Named
	sw.addLinked(torrent.Peers)
	return sw
}

func (s *swarm) waitComplete() {
	if s.transfer.Wait(s.ctx) == nil && s.progress().left == 0 {
		close(s.done)
	}
}

func (s *swarm) progress() progress {
	st := s.transfer.Progress()
	now := progress{
		downloaded: st.Traffic.WANIn + st.Traffic.LANIn,
		uploaded:   st.Traffic.WANOut + st.Traffic.LANOut,
		left:       st.LeftOut.PieceBytes,
	}
	if st.Phase != peer.Whole && st.Length >= 0 {
		now.left += st.Length - st.Have
	}
	return now
}

// handle makes a client a peer of the transfer until the connection ends.
func (s *swarm) handle(p *remotePeer) error {
	c, err := s.newPeerConn(p)
	if err != nil {
		return err
	}
	return c.run()
}
