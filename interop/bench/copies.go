package bench

import (
	"fmt"

	"github.com/mobgrid/mob/interop/netns"
)

// contentLimit is the number of copies that may enter a cluster without frame headers:
// copiesLimit less the headers on an idle machine. A busy machine has more headers.
const contentLimit = copiesLimit - 0.015

// ClusterCopies is the bytes that entered a cluster over the WAN, or a rack over its
// uplink, as a multiple of the content.
type ClusterCopies struct {
	Cluster string  `json:"cluster"`
	Copies  float64 `json:"copies"`
	// Headers is the part of Copies that is frame headers: more on a busy machine, none
	// in simulations.
	Headers float64 `json:"headers,omitempty"`
}

// NewClusterCopies converts a count of received bytes, for content of a size.
func NewClusterCopies(cluster string, c netns.Count, size int64) ClusterCopies {
	return ClusterCopies{cluster, float64(c.Bytes) / float64(size), float64(c.Headers()) / float64(size)}
}

// String shows all fields in a line.
func (c ClusterCopies) String() string {
	return fmt.Sprintf("%s: %.3f copies, %.3f of them headers", c.Cluster, c.Copies, c.Headers)
}

// CheckContent returns an error if more than one copy entered, without frame headers and
// without the copies that may have crossed again, such as copies of killed nodes.
func (c ClusterCopies) CheckContent(again float64) error {
	if limit := contentLimit + again; c.Copies-c.Headers > limit {
		return fmt.Errorf("%v; without headers at most %.3f should", c, limit)
	}
	return nil
}
