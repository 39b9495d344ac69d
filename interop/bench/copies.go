package bench

import (
	"fmt"

	"github.com/mobgrid/mob/interop/netns"
)

// contentLimit is how often content may enter a cluster, protocol included, without
// headers of frames: copiesLimit less the headers on an idle machine. A busy one has
// more of them, and nothing else.
const contentLimit = copiesLimit - 0.015

// ClusterCopies is how many contents entered a cluster.
type ClusterCopies struct {
	Cluster string  `json:"cluster"`
	Copies  float64 `json:"copies"`
	// Headers is the part of Copies that is headers of frames, of which a busy
	// machine makes more. In simulations there are none.
	Headers float64 `json:"headers,omitempty"`
}

// NewClusterCopies is what a count of received bytes means for a content of a size.
func NewClusterCopies(cluster string, c netns.Count, size int64) ClusterCopies {
	return ClusterCopies{cluster, float64(c.Bytes) / float64(size), float64(c.Headers()) / float64(size)}
}

// String says how much of the copies is headers.
func (c ClusterCopies) String() string {
	return fmt.Sprintf("%s: %.3f copies, %.3f of them headers", c.Cluster, c.Copies, c.Headers)
}

// CheckContent is an error when more than a copy entered, the headers of frames left
// out, and beside what may have crossed again, as that of killed nodes.
func (c ClusterCopies) CheckContent(again float64) error {
	if limit := contentLimit + again; c.Copies-c.Headers > limit {
		return fmt.Errorf("%v; without headers at most %.3f should", c, limit)
	}
	return nil
}
