package swarm

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
func (s *Swarm) announce(first []proto.Member) {
	if first != nil {
		s.post(learned{first})
	}
	if s.cfg.Finder == nil {
		return
	}
	retry := announceRetry
	for {
		pause := retry
		h, err := metadata.Announce(s.ctx, s.cfg.Finder, s.cfg.Keys(), s.announcement(false))
		if err == nil {
			retry, pause = announceRetry, time.Duration(h.Interval)*time.Second
			s.post(learned{h.Members})
			if s.sessionCount() == 0 {
				pause = min(pause, announceLonely)
			}
		} else {
			retry = min(2*retry, announceRetryMax)
			s.log.Debug("no tracker answers", "error", err)
		}
		select {
		case <-time.After(max(pause, time.Second)):
		case <-s.progress:
		case <-s.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), leaveTimeout)
			_, _ = metadata.Announce(ctx, s.cfg.Finder, s.cfg.Keys(), s.announcement(true))
			cancel()
			return
		}
	}
}

func (s *Swarm) announcement(leaving bool) proto.Announce {
	return proto.Announce{Cluster: s.cfg.Cluster, Addrs: s.cfg.Network.Addrs(),
		Have: uint32(s.st.Count()), Total: uint32(s.m.Pieces()), Leaving: leaving}
}

// bootstrapEvery is how often the link's peers are dialled while nobody else is
// connected.
const bootstrapEvery = 1500 * time.Millisecond

// bootstrap dials the peers that the link names, whose clusters are not known
// before they answer: at once when there is no tracker, and otherwise when the
// trackers bring nobody.
func (s *Swarm) bootstrap(peers []peer.AddrInfo) {
	if len(peers) == 0 {
		return
	}
	wait := bootstrapEvery
	if s.cfg.Finder == nil {
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
			if err == nil {
				s.post(joined{c})
				continue
			}
			var refused *proto.RemoteError
			if errors.As(err, &refused) && refused.Code == proto.CodeExcluded && !s.whole() {
				s.Fail(refused) // the link is wrong: its own peers refuse
				return
			}
		}
		wait = 2 * bootstrapEvery
	}
}
