package control

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// Fleet is the progress of all nodes of a swarm, as a tracker counts.
type Fleet struct {
	Clusters []FleetCluster `json:"clusters"`
}

// FleetCluster is the progress of one cluster.
type FleetCluster struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Whole is the number of nodes that have every piece.
	Whole int `json:"whole"`
	// Missing is the sum of the missing pieces of the nodes.
	Missing uint64 `json:"missing"`
}

// Whole returns the number of nodes that have every piece.
func (f *Fleet) Whole() (n int) {
	for _, c := range f.Clusters {
		n += c.Whole
	}
	return n
}

// Nodes returns the number of nodes.
func (f *Fleet) Nodes() (n int) {
	for _, c := range f.Clusters {
		n += c.Nodes
	}
	return n
}

func newFleet(f *proto.Scrape) *Fleet {
	out := &Fleet{Clusters: []FleetCluster{}}
	for _, c := range f.Clusters {
		out.Clusters = append(out.Clusters, FleetCluster{c.Name, int(c.Nodes), int(c.Whole), c.Missing})
	}
	return out
}

// AskFleet asks the trackers of a link, over h, for the progress of all nodes.
// One answer is enough. It fails with [ErrNoTracker] when the link names none.
func AskFleet(ctx context.Context, h host.Host, link *proto.Link) (*Fleet, error) {
	f, err := askTrackers(ctx, h, link, (*tracker.Client).Scrape)
	var remote *proto.RemoteError
	switch {
	case errors.As(err, &remote) && remote.Code == proto.CodeUnknownSwarm:
		return newFleet(&proto.Scrape{}), nil
	case err != nil:
		return nil, err
	}
	return newFleet(f), nil
}
