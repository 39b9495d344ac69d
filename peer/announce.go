package peer

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

const (
	// announceRetry is the first pause after no tracker answered; it doubles up
	// to announceRetryMax.
	announceRetry    = 2 * time.Second
	announceRetryMax = 30 * time.Second
	// announceLonely is the most between announces while nobody is connected.
	announceLonely = 5 * time.Second
	// leaveTimeout bounds the last announce.
	leaveTimeout = time.Second
)

// announce keeps the trackers informed, and the State informed by them, until
// the swarm ends. first are members that are known already.
func (s *swarm) announce(first []proto.Member) {
	if first != nil {
		s.post(input{told: true, members: first})
	}
	if s.finder == nil {
		return
	}
	retry := announceRetry
	for {
		pause := retry
		h, err := metadata.Announce(s.ctx, s.finder, s.t.keys(), s.announcement(false))
		if err == nil {
			retry, pause = announceRetry, time.Duration(h.Interval)*time.Second
			s.post(input{told: true, members: h.Members})
			if s.sessionCount() == 0 {
				pause = min(pause, announceLonely)
			}
		} else {
			retry = min(2*retry, announceRetryMax)
			s.log.Debug("no tracker answers", "error", err)
		}
		select {
		case <-time.After(max(pause, time.Second)):
		case <-s.news:
		case <-s.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), leaveTimeout)
			_, _ = metadata.Announce(ctx, s.finder, s.t.keys(), s.announcement(true))
			cancel()
			return
		}
	}
}

func (s *swarm) announcement(leaving bool) proto.Announce {
	return proto.Announce{Cluster: s.node.cfg.Cluster, Addrs: s.node.addrBytes(),
		Have: uint32(s.st.Count()), Total: uint32(s.m.Pieces()), Leaving: leaving}
}

// bootstrapEvery is how often the link's peers are dialled while nobody else is
// connected.
const bootstrapEvery = 1500 * time.Millisecond

// bootstrap dials the peers that the link names, whose clusters are not known
// before they answer: at once when there is no tracker, and otherwise when the
// trackers bring nobody.
func (s *swarm) bootstrap(peers []peer.AddrInfo) {
	if len(peers) == 0 {
		return
	}
	wait := bootstrapEvery
	if s.finder == nil {
		wait = 0
	}
	for {
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
		wait = bootstrapEvery
		if s.sessionCount() > 0 {
			continue
		}
		for _, info := range peers {
			c, err := s.connect(info)
			var no *proto.RemoteError
			switch {
			case err == nil:
				s.post(input{joined: true, sess: c})
			case errors.As(err, &no) && no.Code == proto.CodeExcluded:
				s.fail(no) // the link says whom to believe
				return
			}
		}
		wait = 2 * bootstrapEvery
	}
}
