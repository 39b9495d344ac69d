// Package metrics exports the counters of a node and of a tracker to Prometheus.
//
// A scrape reads counters that the node keeps anyway. No label contains the id of a node or of content, and the number of
// cluster names is bounded, so the number of series is, too.
package metrics
