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

// askTrackers asks the trackers of a link, over h, about its swarm. One answer is enough. It fails
// with [ErrNoTracker] when the link names none. The error has the reply of a tracker that rejects the request.
func askTrackers[T any](
	ctx context.Context, h host.Host, link *proto.Link, ask func(*tracker.Client, context.Context, []byte) (T, error),
) (reply T, err error) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(link.Trackers...)
	if err != nil {
		return reply, err
	}
	if len(infos) == 0 {
		return reply, ErrNoTracker
	}
	client := tracker.NewClient(h, infos, tracker.ClientConfig{})
	defer client.Close()
	reply, err = ask(client, ctx, link.Keys()[0].Bytes())
	if err != nil {
		return reply, fmt.Errorf("no tracker of the link answers (%w): check that it runs and can be reached from here", err)
	}
	return reply, nil
}
