package tracker

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// Client sends requests to one or more trackers. Its methods may be called from any
// goroutine.
//
// Every request goes to all trackers concurrently, and one reply is enough: the call
// returns the merged replies a short grace after the first one, while requests to
// slower trackers continue in the background.
type Client struct {
	host     host.Host
	cfg      ClientConfig
	trackers []*endpoint
	requests tasks // to single trackers
}

// NewClient returns a client of the trackers that dials from h. Close does not close h.
func NewClient(h host.Host, trackers []peer.AddrInfo, cfg ClientConfig) *Client {
	c := &Client{host: h, cfg: cfg.withDefaults()}
	c.requests.init()
	for _, info := range trackers {
		c.trackers = append(c.trackers, newEndpoint(info))
	}
	return c
}

// Announce announces this node and returns the members that the trackers know, each
// once. It blocks for at most Timeout. It fails if no tracker has replied, and the
// error has the reason of each.
func (c *Client) Announce(ctx context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	var reports []proto.Message
	if a.Received != nil {
		reports = append(reports, a.Received)
	}
	if a.Measured != nil {
		reports = append(reports, a.Measured)
	}
	replies, err := askAll[*proto.AnnounceReply](ctx, c, a, reports...)
	if err != nil {
		return nil, err
	}
	return mergeAnnounceReplies(replies, proto.PeerID(c.host.ID())), nil
}

// Scrape returns the progress of a swarm, which is named by the binary CID of the
// manifest. Where trackers differ, it takes the reply with more nodes of a cluster.
// If no tracker knows the swarm the error wraps a [proto.RemoteError] with
// proto.CodeUnknownSwarm. It blocks for at most Timeout.
func (c *Client) Scrape(ctx context.Context, swarm []byte) (*proto.Scrape, error) {
	scrapes, err := askAll[*proto.Scrape](ctx, c, &proto.ScrapeRequest{Swarm: swarm})
	if err != nil {
		return nil, err
	}
	return mergeScrapes(scrapes), nil
}

// Topology returns the measurements of the members of a swarm, from the tracker with the most links. Its errors
// are the same as for Scrape.
func (c *Client) Topology(ctx context.Context, swarm []byte) (*proto.Topology, error) {
	all, err := askAll[*proto.Topology](ctx, c, &proto.TopologyRequest{Swarm: swarm})
	if err != nil {
		return nil, err
	}
	return slices.MaxFunc(all, func(a, b *proto.Topology) int {
		return cmp.Or(cmp.Compare(len(a.Links), len(b.Links)), cmp.Compare(len(a.Hosts), len(b.Hosts)))
	}), nil
}

// AnnounceURLs returns where the trackers serve BitTorrent clients. It blocks for at most Timeout.
// It fails if no tracker has replied.
func (c *Client) AnnounceURLs(ctx context.Context) (urls []string, err error) {
	replies, err := askAll[*proto.AnnounceURLs](ctx, c, &proto.AnnounceURLsRequest{})
	for _, r := range replies {
		for _, url := range r.URLs {
			if !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
	}
	return urls[:min(len(urls), proto.MaxLinkAddrs)], err
}

// Close cancels outstanding requests and waits for them. Later requests fail.
func (c *Client) Close() error {
	c.requests.end()
	c.requests.running.Wait()
	return nil
}

// minInterval and maxInterval bound the interval of an announce, in seconds, since other trackers get the next one too: these may have
// been down at the last one, and need not serve the node as often as one of them asks for.
const (
	minInterval = 5
	maxInterval = 300
)

// mergeAnnounceReplies returns all members of the replies except self, each once with all of its addresses, and
// the shortest interval.
func mergeAnnounceReplies(hs []*proto.AnnounceReply, self proto.PeerID) *proto.AnnounceReply {
	out := &proto.AnnounceReply{Interval: maxInterval}
	for _, h := range hs {
		if h.Interval > 0 {
			out.Interval = min(out.Interval, max(h.Interval, minInterval))
		}
		out.Members = append(out.Members, h.Members...)
	}
	out.Members = mergeByID(out.Members, func(m *proto.Member) (proto.PeerID, *[][]byte) { return m.ID, &m.Addrs })
	out.Members = slices.DeleteFunc(out.Members, func(m proto.Member) bool { return m.ID == self })
	return out
}

// mergeByID returns all that differ by their id, with the addresses of all of the same id.
func mergeByID[T any](all []T, fields func(*T) (proto.PeerID, *[][]byte)) (out []T) {
	index := make(map[proto.PeerID]int) // in out
	for i := range all {
		id, addrs := fields(&all[i])
		if at, known := index[id]; known {
			_, to := fields(&out[at])
			*to = mergeAddrs(*to, *addrs)
			continue
		}
		index[id] = len(out)
		out = append(out, all[i])
	}
	return out
}

func mergeAddrs(a, b [][]byte) [][]byte {
	out := slices.Clip(a)
	for _, addr := range b {
		known := slices.ContainsFunc(out, func(have []byte) bool { return bytes.Equal(have, addr) })
		if !known && len(out) < proto.MaxAddrs {
			out = append(out, addr)
		}
	}
	return out
}

// mergeScrapes takes the report with the most nodes of each cluster. Members announce
// to all trackers, so reports overlap and must not be added up.
func mergeScrapes(fs []*proto.Scrape) *proto.Scrape {
	best := make(map[string]proto.ScrapeCluster)
	for _, f := range fs {
		for _, c := range f.Clusters {
			if b, ok := best[c.Name]; !ok || c.Nodes > b.Nodes {
				best[c.Name] = c
			}
		}
	}
	out := &proto.Scrape{Clusters: make([]proto.ScrapeCluster, 0, len(best))}
	for _, c := range best {
		out.Clusters = append(out.Clusters, c)
	}
	slices.SortFunc(out.Clusters, func(a, b proto.ScrapeCluster) int { return strings.Compare(a.Name, b.Name) })
	return out
}
