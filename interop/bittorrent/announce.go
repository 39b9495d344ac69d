package bittorrent

import (
	"context"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/tracker"
	trackerhttp "github.com/anacrolix/torrent/tracker/http"

	"github.com/mobgrid/mob/peer"
)

const (
	// announceTimeout bounds an announce, and leaveTimeout the last one.
	announceTimeout = 15 * time.Second
	leaveTimeout    = time.Second
	// announceLeast and announceMost bound the pause that a tracker asks for, and
	// announceRetry is the first after a failure, which doubles up to announceMost.
	announceLeast = 10 * time.Second
	announceMost  = time.Hour
	announceRetry = 5 * time.Second
	// wanted is how many peers a tracker is asked for.
	wanted = 100
	// lookEvery is how often it is looked whether the content has become whole.
	lookEvery = time.Second
)

// announce tells a tracker of the node as of any client, and learns of others, until
// the swarm ends.
func (s *swarm) announce(url string) {
	client, err := tracker.NewClient(url, tracker.NewClientOpts{Http: trackerhttp.NewClientOpts{DialContext: s.server.cfg.Dial}, Slogger: s.log})
	if err != nil {
		s.log.Warn("tracker left out", "url", url, "error", err)
		return
	}
	defer client.Close()
	event, retry := tracker.Started, announceRetry
	left := s.left()
	for {
		pause := retry
		ctx, cancel := context.WithTimeout(s.ctx, announceTimeout)
		reply, err := client.Announce(ctx, s.request(event, left), s.announceOptions())
		cancel()
		if err == nil {
			event, retry = tracker.None, announceRetry
			pause = min(max(time.Duration(reply.Interval)*time.Second, announceLeast), announceMost)
			s.contacts.add(addrsOf(reply.Peers))
		} else {
			retry = min(2*retry, announceMost)
			s.log.Debug("tracker does not answer", "url", url, "error", err)
		}
		before := left
		if left = s.pause(pause, before); before > 0 && left == 0 {
			event = tracker.Completed
		}
		if s.ctx.Err() != nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), leaveTimeout)
	defer cancel()
	_, _ = client.Announce(ctx, s.request(tracker.Stopped, left), s.announceOptions()) // nobody hears of it
}

// pause waits, until the content becomes whole or the swarm ends at the latest, and
// returns how much is missing then.
func (s *swarm) pause(most time.Duration, left int64) int64 {
	end := time.NewTimer(most)
	defer end.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-end.C:
			return s.left()
		case <-s.ctx.Done():
			return left
		case <-look.C:
			if left > 0 && s.left() == 0 {
				return 0
			}
		}
	}
}

// left is how many bytes are missing.
func (s *swarm) left() int64 {
	st := s.transfer.Progress()
	if st.Phase == peer.Whole || st.Length < 0 {
		return 0
	}
	return st.Length - st.Have
}

func (s *swarm) request(event tracker.AnnounceEvent, left int64) tracker.AnnounceRequest {
	st := s.transfer.Progress()
	return tracker.AnnounceRequest{
		InfoHash: [20]byte(s.torrent.Hash), PeerId: s.server.id, Left: left, Event: event, NumWant: wanted, Port: uint16(s.server.port()),
		Downloaded: st.Traffic.WANIn + st.Traffic.LANIn, Uploaded: st.Traffic.WANOut + st.Traffic.LANOut,
	}
}

func (s *swarm) announceOptions() tracker.AnnounceOpt {
	return tracker.AnnounceOpt{UserAgent: s.server.cfg.Client}
}

func addrsOf(peers []tracker.Peer) []netip.AddrPort {
	var out []netip.AddrPort
	for _, p := range peers {
		if a, ok := netip.AddrFromSlice(p.IP); ok && p.Port > 0 && p.Port < 1<<16 {
			out = append(out, netip.AddrPortFrom(a.Unmap(), uint16(p.Port)))
		}
	}
	return out
}
