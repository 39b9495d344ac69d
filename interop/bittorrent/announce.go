package bittorrent

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/anacrolix/torrent/tracker"

	"github.com/mobgrid/mob/proto"
)

const (
	// announceTimeout bounds an announce, and stoppedTimeout the last one.
	announceTimeout = 15 * time.Second
	stoppedTimeout  = time.Second
	// minInterval and maxInterval bound the interval that a tracker asks for. While no
	// client is connected, the interval starts at minInterval and doubles.
	minInterval = 10 * time.Second
	maxInterval = time.Hour
	// minRetry is the pause after the first failed announce. It doubles up to
	// maxInterval.
	minRetry = 5 * time.Second
	// numWant is the number of peers requested from a tracker.
	numWant = 100
)

type announcer interface {
	Announce(context.Context, tracker.AnnounceRequest, tracker.AnnounceOpt) (tracker.AnnounceResponse, error)
	Close() error
}

func (m *connManager) newAnnouncer(text string) (announcer, *trackerDialer, error) {
	if err := proto.CheckAnnounce(text); err != nil {
		return nil, nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	d := &trackerDialer{rule: m.server.rule, custom: m.server.cfg.Dial}
	if slices.Contains(m.server.cfg.Trackers, text) || slices.Contains(m.named, text) {
		port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
		d.own = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	}
	if u.Scheme == "udp" {
		client, err := tracker.NewClient(text, tracker.NewClientOpts{ListenPacket: d.listenPacket, Slogger: m.log})
		return client, d, err
	}
	return newHTTPTracker(u, d), d, nil
}

// announce announces the node to a tracker and adds the peers of its replies to addrs,
// until the context ends.
func (m *connManager) announce(text string) {
	client, dialer, err := m.newAnnouncer(text)
	if err != nil {
		m.log.Warn("tracker ignored", "tracker", trackerName(text), "error", err)
		return
	}
	defer client.Close()
	event, retry, idleInterval := tracker.Started, minRetry, minInterval
	complete := m.complete
	if m.progress().left == 0 {
		complete = nil // it was complete from the start
	}
	for m.ctx.Err() == nil {
		pause := retry
		ctx, cancel := context.WithTimeout(m.ctx, announceTimeout)
		reply, err := client.Announce(ctx, m.announceRequest(event), m.announceOptions())
		cancel()
		if err == nil {
			event, retry = tracker.None, minRetry
			m.addrs.add(text, slices.DeleteFunc(peerAddrs(reply.Peers), func(a netip.AddrPort) bool {
				return dialer.checkPeer(a.Addr()) != nil
			}))
			pause = min(max(time.Duration(reply.Interval)*time.Second, minInterval), maxInterval)
			if m.idle() {
				pause, idleInterval = min(pause, idleInterval), min(2*idleInterval, maxInterval)
			} else {
				idleInterval = minInterval
			}
		} else {
			retry = min(2*retry, maxInterval)
			m.log.Debug("announce failed", "tracker", trackerName(text), "error", err)
		}
		if m.ctx.Err() == nil {
			m.fail("tracker "+trackerName(text), err)
		}
		select {
		case <-time.After(pause):
		case <-complete:
			event, complete = tracker.Completed, nil
		case <-m.ctx.Done():
		}
	}
	if errors.Is(context.Cause(m.ctx), errDescribed) {
		return // the transfer announces next
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), stoppedTimeout)
	defer cancel()
	_, _ = client.Announce(ctx, m.announceRequest(tracker.Stopped), m.announceOptions()) // the tracker expires the node
}

// trackerName returns the URL of a tracker without what names a user of a private one, in the log and in the status of a transfer.
func trackerName(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host
}

func (m *connManager) announceRequest(event tracker.AnnounceEvent) tracker.AnnounceRequest {
	now := m.progress()
	return tracker.AnnounceRequest{
		InfoHash:   [20]byte(m.hash),
		PeerId:     m.server.peerID,
		Downloaded: now.downloaded,
		Left:       now.left,
		Uploaded:   now.uploaded,
		Event:      event,
		NumWant:    numWant,
		Port:       uint16(m.server.port()),
	}
}

func (m *connManager) announceOptions() tracker.AnnounceOpt {
	return tracker.AnnounceOpt{UserAgent: m.server.cfg.Client}
}

func peerAddrs(peers []tracker.Peer) []netip.AddrPort {
	var out []netip.AddrPort
	for _, p := range peers {
		if a, ok := netip.AddrFromSlice(p.IP); ok && p.Port > 0 && p.Port < 1<<16 {
			out = append(out, netip.AddrPortFrom(a.Unmap(), uint16(p.Port)))
		}
	}
	return out
}
