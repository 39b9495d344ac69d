package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// ErrNoTracker answers a query for the fleet of a link without trackers.
var ErrNoTracker = errors.New("the link names no tracker to count the nodes: `mob seed --tracker ADDR` makes one that does")

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
	// Missing is the number of pieces that the nodes lack, added up.
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

func newFleet(f *proto.Fleet) *Fleet {
	out := &Fleet{Clusters: []FleetCluster{}}
	for _, c := range f.Clusters {
		out.Clusters = append(out.Clusters, FleetCluster{c.Name, int(c.Nodes), int(c.Whole), c.Missing})
	}
	return out
}

// AskFleet asks the trackers of a link, over h, for the progress of all nodes.
// One answer is enough. It fails with [ErrNoTracker] when the link names none.
func AskFleet(ctx context.Context, h host.Host, link *proto.Link) (*Fleet, error) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(link.Trackers...)
	if err != nil {
		return nil, err
	}
	if len(infos) == 0 {
		return nil, ErrNoTracker
	}
	client := tracker.NewClient(h, infos, tracker.ClientConfig{})
	defer client.Close()
	f, err := client.Fleet(ctx, link.Keys()[0].Bytes())
	var remote *proto.RemoteError
	if errors.As(err, &remote) && remote.Code == proto.CodeUnknownSwarm {
		return newFleet(&proto.Fleet{}), nil
	}
	if err != nil {
		return nil, fmt.Errorf("no tracker of the link answers (%w): check that it runs and can be reached from here", err)
	}
	return newFleet(f), nil
}
