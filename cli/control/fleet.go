package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// ErrNoTracker answers the question for a fleet when nobody can be asked.
var ErrNoTracker = errors.New("the link names no tracker, so nobody counts the nodes: `mob seed --tracker ADDR` makes one that does")

// Trackers groups addresses by tracker.
func Trackers(addrs []ma.Multiaddr) ([]libpeer.AddrInfo, error) {
	return libpeer.AddrInfosFromP2pAddrs(addrs...)
}

// AskFleet asks the trackers of a link, over h, how far the nodes are.
func AskFleet(ctx context.Context, h host.Host, link *proto.Link) (*Fleet, error) {
	infos, err := Trackers(link.Trackers)
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
		return nil, fmt.Errorf("no tracker of the link answers: %w", err)
	}
	return newFleet(f), nil
}
