package control

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// Topology has the measurements of the nodes of a swarm, added up by a tracker.
type Topology struct {
	Hosts []TopologyHost `json:"hosts"`
	Links []TopologyLink `json:"links"`
}

// TopologyHost is a node.
type TopologyHost struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
}

// TopologyLink is the way from one cluster, site or rack to another.
type TopologyLink struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Rate is the most payload in bytes per second that went this way, over three seconds. Full reports that
	// the link was full then; else Rate is a lower bound.
	Rate int64 `json:"rate"`
	Full bool  `json:"full"`
	// RTT is the shortest round trip, 0 if it is not known.
	RTT time.Duration `json:"rtt_ns"`
	// Segments counts segments on bulk sockets, and Lost the retransmitted ones.
	Segments uint64 `json:"segments"`
	Lost     uint64 `json:"lost"`
}

// topology answers with the measurements of the nodes of a swarm.
func (s *Server) topology(ctx context.Context, link *proto.Link) (any, error) {
	t, err := askTrackers(s, link.Trackers, func(c *tracker.Client) (*proto.Topology, error) {
		return c.Topology(ctx, link.Keys()[0].Bytes())
	})
	switch proto.CodeOf(err) {
	case proto.CodeUnknownSwarm:
		return nil, errors.New("the trackers know no node with this content: ask while the nodes fetch or serve it")
	case proto.CodeProtocol:
		return nil, errors.New("the trackers of the link are of a version that does not measure links: update them")
	}
	if err != nil {
		return nil, err
	}
	out := &Topology{Hosts: []TopologyHost{}, Links: []TopologyLink{}}
	for _, h := range t.Hosts {
		out.Hosts = append(out.Hosts, TopologyHost{h.Name, h.Cluster})
	}
	for _, l := range t.Links {
		out.Links = append(out.Links, TopologyLink{
			From: l.From, To: l.To, Rate: int64(l.Rate), Full: l.Full, RTT: time.Duration(l.RTT) * time.Microsecond,
			Segments: l.Sent, Lost: l.Lost,
		})
	}
	return out, nil
}
