package bittorrent

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/tracker"
	trackerhttp "github.com/anacrolix/torrent/tracker/http"
)

const (
	// announceTimeout bounds an announce, and leaveTimeout the last one.
	announceTimeout = 15 * time.Second
	leaveTimeout    = time.Second
	// announceLeast and announceMost bound the pause that a tracker asks for, and
	// announceRetry is the first after a failure, which doubles up to announceMost. While
	// no client is here the pause is announceLeast at first, and doubles too.
	announceLeast = 10 * time.Second
	announceMost  = time.Hour
	announceRetry = 5 * time.Second
	// wanted is how many peers a tracker is asked for.
	wanted = 100
)

// announce tells a tracker of the node as of any client, and learns of others, until
// the lobby ends.
func (l *lobby) announce(url string) {
	client, err := tracker.NewClient(url, tracker.NewClientOpts{Http: trackerhttp.NewClientOpts{DialContext: l.server.cfg.Dial}, Slogger: l.log})
	if err != nil {
		l.log.Warn("tracker left out", "url", url, "error", err)
		return
	}
	defer client.Close()
	event, retry, lonely := tracker.Started, announceRetry, announceLeast
	whole := l.host.whole()
	if l.host.standing().left == 0 {
		whole = nil // it was when the node came
	}
	for l.ctx.Err() == nil {
		pause := retry
		ctx, cancel := context.WithTimeout(l.ctx, announceTimeout)
		reply, err := client.Announce(ctx, l.request(event), l.announceOptions())
		cancel()
		if err == nil {
			event, retry = tracker.None, announceRetry
			l.contacts.add(addrsOf(reply.Peers))
			pause = min(max(time.Duration(reply.Interval)*time.Second, announceLeast), announceMost)
			if l.empty() {
				pause, lonely = min(pause, lonely), min(2*lonely, announceMost)
			} else {
				lonely = announceLeast
			}
		} else {
			retry = min(2*retry, announceMost)
			l.log.Debug("tracker does not answer", "url", url, "error", err)
		}
		select {
		case <-time.After(pause):
		case <-whole:
			event, whole = tracker.Completed, nil
		case <-l.ctx.Done():
		}
	}
	if errors.Is(context.Cause(l.ctx), errDescribed) {
		return // the transfer comes next
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), leaveTimeout)
	defer cancel()
	_, _ = client.Announce(ctx, l.request(tracker.Stopped), l.announceOptions()) // nobody hears of it
}

func (l *lobby) request(event tracker.AnnounceEvent) tracker.AnnounceRequest {
	now := l.host.standing()
	return tracker.AnnounceRequest{
		InfoHash: [20]byte(l.hash), PeerId: l.server.id, Left: now.left, Event: event, NumWant: wanted, Port: uint16(l.server.port()),
		Downloaded: now.downloaded, Uploaded: now.uploaded,
	}
}

func (l *lobby) announceOptions() tracker.AnnounceOpt {
	return tracker.AnnounceOpt{UserAgent: l.server.cfg.Client}
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
