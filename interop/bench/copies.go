package bench

import (
	"github.com/mobgrid/mob/interop/netns"
)

// ClusterCopies is the bytes that entered a cluster over the WAN, or a rack over its
// uplink, as a multiple of the content.
type ClusterCopies struct {
	Cluster string  `json:"cluster"`
	Copies  float64 `json:"copies"`
	// Headers is the part of Copies that is frame headers: more on a busy machine, none
	// in simulations.
	Headers float64 `json:"headers,omitempty"`
}

// newClusterCopies converts a count of received bytes, for content of a size.
func newClusterCopies(cluster string, c netns.Count, size int64) ClusterCopies {
	return ClusterCopies{cluster, float64(c.Bytes) / float64(size), float64(c.Headers()) / float64(size)}
}
