// Package metrics has the figures of a node and of a tracker as Prometheus reads them.
//
// Nothing is counted for it: a scrape reads what the node has counted anyway. No label has the id
// of a node or a content, and names of clusters are bounded, so that the series are, too.
package metrics
