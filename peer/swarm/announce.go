package swarm

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

const (
	// announceRetry is the pause after an announce that no tracker answered. It doubles, up
	// to announceRetryMax.
	announceRetry    = 2 * time.Second
	announceRetryMax = 30 * time.Second
	// announceLonely bounds the interval between announces while no peer is connected.
	announceLonely = 5 * time.Second
	// leaveTimeout bounds the announce that the node leaves.
	leaveTimeout = time.Second
)

// announce announces the node to the trackers until the swarm ends, and posts the members in their
// replies. first are members that are known at the start.
func (s *Swarm) announce(first []proto.Member) {
	if first != nil {
		s.post(func() { s.onMembers(unnamed(first)) })
	}
	if s.cfg.Finder == nil {
		return
	}
	retry := announceRetry
	var rejected string // what was logged
	for {
		pause := retry
		a := s.announcement(false)
		h, err := metadata.Announce(s.ctx, s.cfg.Finder, s.cfg.Link.Keys(), a)
		if err == nil {
			s.meter.sent()
			s.announced.Store(int64(a.Have))
			retry, pause = announceRetry, time.Duration(h.Interval)*time.Second
			s.post(func() { s.onMembers(unnamed(h.Members)) })
			s.findHosts()
			if s.sessionCount() == 0 {
				pause = min(pause, announceLonely)
			}
		} else {
			s.announced.Store(-1)
			retry = min(2*retry, announceRetryMax)
			level := slog.LevelDebug
			code := proto.CodeOf(err)
			if (code == proto.CodeNoMember || code == proto.CodeExcluded) && err.Error() != rejected {
				level, rejected = slog.LevelWarn, err.Error()
			}
			s.log.Log(s.ctx, level, "no tracker answers", "error", err)
		}
		select {
		case <-time.After(max(pause, time.Second)):
		case <-s.progress:
		case <-s.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), leaveTimeout)
			_, _ = metadata.Announce(ctx, s.cfg.Finder, s.cfg.Link.Keys(), s.announcement(true))
			cancel()
			return
		}
	}
}

// AwaitAnnounced waits until a tracker knows that the node is complete. It returns false if no tracker answered the
// last announce, or once ctx ends.
func (s *Swarm) AwaitAnnounced(ctx context.Context) bool {
	have := s.announced.Load()
	for ; have >= 0 && have < int64(s.wanted()) && ctx.Err() == nil; have = s.announced.Load() {
		time.Sleep(10 * time.Millisecond)
	}
	return have == int64(s.wanted())
}

// announcement returns a message for the trackers.
func (s *Swarm) announcement(leaving bool) proto.Announce {
	return proto.Announce{
		Cluster: s.cfg.Cluster,
		Addrs:   s.cfg.Addrs(),
		Have:    uint32(s.st.Count()),
		Total:   uint32(s.m.Pieces()),
		Leaving: leaving,

		Received: s.received(),
		Measured: s.measured(),
	}
}

// bootstrapEvery is the interval at which the link's peers are dialed while no peer is connected.
const bootstrapEvery = 1500 * time.Millisecond

// bootstrap dials the peers that the link names while no peer is connected, and those among them that no tracker names while no
// connected peer has a missing piece: the strategy forgets a member that cannot be reached for minutes. If there are trackers,
// these get time to answer first: the strategy does not choose among the link's peers, whose
// clusters are not known before they answer.
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
		alone := s.sessionCount() == 0
		if !alone && !starves(s.status.Load().strategy) {
			continue
		}
		for _, info := range peers {
			if id := proto.PeerID(info.ID); !alone && (s.session(id) != nil || s.namedByTracker(id)) {
				continue
			}
			c, err := s.connect(info)
			if err == nil {
				s.join(c)
				continue
			}
			s.noteRejection(err)
			if r, ok := errors.AsType[*proto.RemoteError](err); ok && (r.Code == proto.CodeExcluded || r.Code == proto.CodeNoMember) &&
				alone && !s.Complete() {
				s.Fail(r) // the link is wrong: its own peers reject the node
				return
			}
		}
		wait = 2 * bootstrapEvery
	}
}
