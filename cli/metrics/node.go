package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// maxClusters bounds the names of clusters in labels, and other is the label of all further ones.
const (
	maxClusters = 64
	other       = "(other)"
)

// NewNode returns the metrics of a node of a cluster. read is [peer.Node.Stats].
func NewNode(read func() peer.Stats, cluster, version string) prometheus.Collector {
	names := map[string]bool{cluster: true, swarm.BitTorrentCluster: true}
	return collector(func(send sender) {
		st := read()
		send.gauge(desc("node_info", "Always 1: the cluster and the version of the node.", "cluster", "version"), 1, cluster, version)
		send.totals(&st.Totals, cluster)
		outOfService := desc("pieces_out_of_service", "Stored pieces that are not served at present.", "reason")
		send.gauge(outOfService, float64(st.Damaged), "damaged")
		send.gauge(outOfService, float64(st.Unreadable), "unreadable")
		transfers := desc("transfers", "Transfers in each phase.", "phase")
		for _, p := range []peer.Phase{peer.Seeking, peer.Checking, peer.Fetching, peer.Whole, peer.Stopped, peer.Failed} {
			send.gauge(transfers, float64(st.Transfers[p]), string(p))
		}
		send.gauge(desc("transfers_isolated", "Transfers that reach no member of the node's own cluster, although some are known."), float64(st.Isolated))
		send.clusters(bounded(st.Clusters, names))
	})
}

// totals sends the counters of a node of a cluster.
func (s sender) totals(sum *swarm.Totals, cluster string) {
	payload := desc("payload_bytes_total", "Bytes of contents that came and left, by network.", "direction", "scope")
	s.counter(payload, sum.Traffic.WANIn, "in", "wan")
	s.counter(payload, sum.Traffic.LANIn, "in", "lan")
	s.counter(payload, sum.Traffic.WANOut, "out", "wan")
	s.counter(payload, sum.Traffic.LANOut, "out", "lan")
	if parts := proto.ClusterParts(cluster); parts > 1 {
		level := desc("level_bytes_total", "Bytes that came from and went to nodes of the own site, by the narrowest group "+
			"that both are in. Only where the name of the cluster is a path.", "direction", "group")
		for i := range parts {
			group := proto.ClusterGroup(cluster, i+1)
			s.counter(level, sum.Traffic.Near[i].In, "in", group)
			s.counter(level, sum.Traffic.Near[i].Out, "out", group)
		}
	}
	s.counter(desc("fetched_bytes_total", "Bytes of the pieces that came and were right."), sum.VerifiedBytes)
	s.counter(desc("duplicate_bytes_total", "Bytes that came and were stored already, or are of no use."), sum.Duplicate)
	s.counter(desc("pieces_verified_total", "Pieces that came and were right."), sum.Verified)
	s.counter(desc("pieces_failed_total", "Pieces and coded blocks that came and were not right."), sum.Bad)
	s.counter(desc("pieces_damaged_total", "Stored pieces that turned out to be damaged."), sum.Damaged)
	s.counter(desc("stalls_total", "Times that a peer left requests unanswered."), sum.Stalls)
	s.counter(desc("sessions_opened_total", "Sessions with peers that began: one per peer and transfer."), sum.Joined)
	s.counter(desc("sessions_closed_total", "Sessions with peers that ended."), sum.Left)
}

// clusters sends the state of the peers of each cluster.
func (s sender) clusters(by map[string]swarm.ClusterStatus) {
	peers := desc("peers", "Peers, each in every transfer that it shares.", "cluster")
	stalled := desc("peers_stalled", "Peers that owe blocks.", "cluster")
	rtt := desc("peer_round_trip_seconds", "Longest round trip to a peer of a cluster.", "cluster")
	queue := desc("peer_queue_delay_seconds", "Longest time that the last message of a peer of another cluster queued on its way.", "cluster")
	for name, c := range by {
		s.gauge(peers, float64(c.Peers), name)
		s.gauge(stalled, float64(c.Stalled), name)
		s.gauge(rtt, c.RTT.Seconds(), name)
		s.gauge(queue, c.Queue.Seconds(), name)
	}
}

// bounded returns the clusters by label, and adds new labels to names. A cluster that has a label keeps it, so that
// peers with ever new names of clusters make a bounded number of series.
func bounded(clusters map[string]swarm.ClusterStatus, names map[string]bool) map[string]swarm.ClusterStatus {
	out := map[string]swarm.ClusterStatus{}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		if len(names) < maxClusters {
			names[name] = true
		}
		label := other
		if names[name] {
			label = name
		}
		sum, s := out[label], clusters[name]
		sum.Peers += s.Peers
		sum.Stalled += s.Stalled
		sum.RTT, sum.Queue = max(sum.RTT, s.RTT), max(sum.Queue, s.Queue)
		out[label] = sum
	}
	return out
}
