package metrics

import (
	"maps"
	"slices"
	"sync"

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

// desc describes a metric.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mob_"+name, help, labels, nil)
}

// nodeDescs are the metrics of a node.
type nodeDescs struct {
	payload, level, fetched, duplicate         *prometheus.Desc
	verified, failed, damaged, outOfService    *prometheus.Desc
	stalls, joined, left                       *prometheus.Desc
	transfers, peers, stalled, rtt, queueDelay *prometheus.Desc
	isolated                                   *prometheus.Desc
}

func newNodeDescs() nodeDescs {
	return nodeDescs{
		payload: desc("payload_bytes_total", "Bytes of contents that came and left, by network.", "direction", "scope"),
		level: desc("level_bytes_total", "Bytes that came from and went to nodes of the own site, by the narrowest group "+
			"that both are in. Only where the name of the cluster is a path.", "direction", "group"),
		fetched:      desc("fetched_bytes_total", "Bytes of the pieces that came and were right."),
		duplicate:    desc("duplicate_bytes_total", "Bytes that came and were stored already, or are of no use."),
		verified:     desc("pieces_verified_total", "Pieces that came and were right."),
		failed:       desc("pieces_failed_total", "Pieces and coded blocks that came and were not right."),
		damaged:      desc("pieces_damaged_total", "Stored pieces that turned out to be damaged."),
		outOfService: desc("pieces_out_of_service", "Stored pieces that are not served at present.", "reason"),
		stalls:       desc("stalls_total", "Times that a peer left requests unanswered."),
		joined:       desc("sessions_opened_total", "Sessions with peers that began: one per peer and transfer."),
		left:         desc("sessions_closed_total", "Sessions with peers that ended."),
		transfers:    desc("transfers", "Transfers in each phase.", "phase"),
		isolated:     desc("transfers_isolated", "Transfers that reach no member of the node's own cluster, although some are known."),
		peers:        desc("peers", "Peers, each in every transfer that it shares.", "cluster"),
		stalled:      desc("peers_stalled", "Peers that owe blocks.", "cluster"),
		rtt:          desc("peer_round_trip_seconds", "Longest round trip to a peer of a cluster.", "cluster"),
		queueDelay: desc("peer_queue_delay_seconds",
			"Longest time that the last message of a peer of another cluster queued on its way.", "cluster"),
	}
}

// node collects the metrics of a node.
type node struct {
	nodeDescs
	info    *prometheus.Desc
	read    func() peer.Stats
	cluster string
	version string

	mu    sync.Mutex
	names map[string]bool // of clusters that are labels
}

// NewNode returns the metrics of a node of a cluster. read is [peer.Node.Stats].
func NewNode(read func() peer.Stats, cluster, version string) prometheus.Collector {
	return &node{
		nodeDescs: newNodeDescs(),
		info:      desc("node_info", "Always 1: the cluster and the version of the node.", "cluster", "version"),
		read:      read,
		cluster:   cluster,
		version:   version,
		names:     map[string]bool{cluster: true, swarm.BitTorrentCluster: true},
	}
}

// Describe implements [prometheus.Collector].
func (c *node) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.info, c.payload, c.level, c.fetched, c.duplicate, c.verified, c.failed, c.damaged, c.outOfService,
		c.stalls, c.joined, c.left, c.transfers, c.isolated, c.peers, c.stalled, c.rtt, c.queueDelay,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *node) Collect(ch chan<- prometheus.Metric) {
	st := c.read()
	send := sender(ch)
	send.gauge(c.info, 1, c.cluster, c.version)
	sum := &st.Totals
	send.counter(c.payload, sum.Traffic.WANIn, "in", "wan")
	send.counter(c.payload, sum.Traffic.LANIn, "in", "lan")
	send.counter(c.payload, sum.Traffic.WANOut, "out", "wan")
	send.counter(c.payload, sum.Traffic.LANOut, "out", "lan")
	if parts := proto.ClusterParts(c.cluster); parts > 1 {
		for i := range parts {
			group := proto.ClusterGroup(c.cluster, i+1)
			send.counter(c.level, sum.Traffic.Near[i].In, "in", group)
			send.counter(c.level, sum.Traffic.Near[i].Out, "out", group)
		}
	}
	send.counter(c.fetched, sum.VerifiedBytes)
	send.counter(c.duplicate, sum.Duplicate)
	send.counter(c.verified, sum.Verified)
	send.counter(c.failed, sum.Bad)
	send.counter(c.damaged, sum.Damaged)
	send.gauge(c.outOfService, float64(st.Damaged), "damaged")
	send.gauge(c.outOfService, float64(st.Unreadable), "unreadable")
	send.counter(c.stalls, sum.Stalls)
	send.counter(c.joined, sum.Joined)
	send.counter(c.left, sum.Left)
	for _, p := range []peer.Phase{peer.Seeking, peer.Checking, peer.Fetching, peer.Whole, peer.Stopped, peer.Failed} {
		send.gauge(c.transfers, float64(st.Transfers[p]), string(p))
	}
	send.gauge(c.isolated, float64(st.Isolated))
	for name, s := range c.bounded(st.Clusters) {
		send.gauge(c.peers, float64(s.Peers), name)
		send.gauge(c.stalled, float64(s.Stalled), name)
		send.gauge(c.rtt, s.RTT.Seconds(), name)
		send.gauge(c.queueDelay, s.Queue.Seconds(), name)
	}
}

// bounded returns the clusters by label. A cluster that has a label keeps it, so that strangers with
// ever new names make no series.
func (c *node) bounded(clusters map[string]swarm.ClusterStatus) map[string]swarm.ClusterStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]swarm.ClusterStatus{}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		if !c.names[name] && len(c.names) < maxClusters {
			c.names[name] = true
		}
		label := other
		if c.names[name] {
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

// sender sends metrics.
type sender chan<- prometheus.Metric

func (s sender) counter(d *prometheus.Desc, v int64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (s sender) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}
