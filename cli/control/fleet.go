package control

import (
	"context"
	"errors"
	"fmt"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// errNoTracker answers a query about the swarm of a link without trackers.
var errNoTracker = errors.New("the link names no tracker to count the nodes: `mob seed --tracker ADDR` makes one that does")

// fleet answers with the progress of all nodes of a swarm, as the trackers count.
func (s *Server) fleet(ctx context.Context, link *proto.Link) (any, error) {
	f, err := askTrackers(s, link.Trackers, func(c *tracker.Client) (*proto.Scrape, error) {
		return c.Scrape(ctx, link.Keys()[0].Bytes())
	})
	if proto.CodeOf(err) == proto.CodeUnknownSwarm {
		return &proto.Scrape{Clusters: []proto.ScrapeCluster{}}, nil
	}
	return f, err
}

// askTrackers asks trackers. One answer is enough.
func askTrackers[T any](s *Server, trackers []ma.Multiaddr, ask func(*tracker.Client) (T, error)) (reply T, err error) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(trackers...)
	if err == nil && len(infos) == 0 {
		err = errNoTracker
	}
	if err != nil {
		return reply, err
	}
	client := tracker.NewClient(s.cfg.Node.Host(), infos, tracker.ClientConfig{})
	defer client.Close()
	reply, err = ask(client)
	if err != nil && proto.CodeOf(err) == 0 {
		err = fmt.Errorf("%w: check that it runs and can be reached from here", err)
	}
	return reply, err
}
