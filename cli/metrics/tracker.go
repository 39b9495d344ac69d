package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mobgrid/mob/tracker"
	"github.com/mobgrid/mob/tracker/bittorrent"
)

// trackers collects the metrics of a tracker, and of the one for BitTorrent clients beside it.
type trackers struct {
	info, entries, most, requests, refused *prometheus.Desc

	read    func() tracker.Stats
	readBT  func() bittorrent.Stats // or nil
	version string
}

// NewTracker returns the metrics of a tracker, and with readBT of that for BitTorrent clients.
// read is [tracker.Server.Stats].
func NewTracker(read func() tracker.Stats, readBT func() bittorrent.Stats, version string) prometheus.Collector {
	return &trackers{
		info:     desc("tracker_info", "Always 1: the version of the tracker.", "version"),
		entries:  desc("tracker_entries", "Entries of the tracker's tables.", "table"),
		most:     desc("tracker_entries_limit", "Entries that the tracker's tables may have.", "table"),
		requests: desc("tracker_requests_total", "Requests that the tracker has read.", "protocol"),
		refused:  desc("tracker_requests_refused_total", "Requests that the tracker has refused.", "protocol", "reason"),
		read:     read,
		readBT:   readBT,
		version:  version,
	}
}

// Describe implements [prometheus.Collector].
func (c *trackers) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.info, c.entries, c.most, c.requests, c.refused} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *trackers) Collect(ch chan<- prometheus.Metric) {
	st := c.read()
	send := sender(ch)
	send.gauge(c.info, 1, c.version)
	c.table(send, "swarms", st.Swarms, st.MaxSwarms)
	c.table(send, "members", st.Members, st.MaxMembers)
	send.counter(c.requests, st.Requests, "mob")
	send.counter(c.refused, st.Busy, "mob", "full")
	send.counter(c.refused, st.Unknown, "mob", "unknown")
	send.counter(c.refused, st.Invalid, "mob", "invalid")
	send.counter(c.refused, st.Overloaded, "mob", "overloaded")
	if c.readBT == nil {
		return
	}
	bt := c.readBT()
	c.table(send, "torrents", bt.Torrents, bt.MaxTorrents)
	c.table(send, "clients", bt.Peers, bt.MaxPeers)
	send.counter(c.requests, bt.Announces, "bittorrent")
	send.counter(c.refused, bt.Rejected, "bittorrent", "announce")
}

func (c *trackers) table(send sender, name string, entries, most int) {
	send.gauge(c.entries, float64(entries), name)
	send.gauge(c.most, float64(most), name)
}
