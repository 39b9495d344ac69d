package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mobgrid/mob/tracker"
	"github.com/mobgrid/mob/tracker/bittorrent"
)

// NewTracker returns the metrics of a tracker, and with readBT, which may be nil, of the tracker for BitTorrent clients
// beside it. read is [tracker.Server.Stats].
func NewTracker(read func() tracker.Stats, readBT func() bittorrent.Stats, version string) prometheus.Collector {
	entries := desc("tracker_entries", "Entries of the tracker's tables.", "table")
	most := desc("tracker_entries_limit", "Entries that the tracker's tables may have.", "table")
	requests := desc("tracker_requests_total", "Requests that the tracker has read.", "protocol")
	refused := desc("tracker_requests_refused_total", "Requests that the tracker has refused.", "protocol", "reason")
	return collector(func(send sender) {
		table := func(name string, n, limit int) {
			send.gauge(entries, float64(n), name)
			send.gauge(most, float64(limit), name)
		}
		st := read()
		send.gauge(desc("tracker_info", "Always 1: the version of the tracker.", "version"), 1, version)
		table("swarms", st.Swarms, st.MaxSwarms)
		table("members", st.Members, st.MaxMembers)
		send.counter(requests, st.Requests, "mob")
		send.counter(refused, st.Busy, "mob", "full")
		send.counter(refused, st.Unknown, "mob", "unknown")
		send.counter(refused, st.Invalid, "mob", "invalid")
		send.counter(refused, st.Overloaded, "mob", "overloaded")
		if readBT == nil {
			return
		}
		bt := readBT()
		table("torrents", bt.Torrents, bt.MaxTorrents)
		table("clients", bt.Peers, bt.MaxPeers)
		send.counter(requests, bt.Announces, "bittorrent")
		send.counter(refused, bt.Rejected, "bittorrent", "announce")
	})
}
