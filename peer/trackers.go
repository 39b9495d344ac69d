package peer

import (
	"context"
	"slices"
	"sync"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// SetTrackers replaces the trackers of the node. Transfers use the new ones from
// their next announce or start on.
func (n *Node) SetTrackers(trackers []ma.Multiaddr) { n.ownTrackers.Store(&trackers) }

// Trackers returns the trackers of the node.
func (n *Node) Trackers() []ma.Multiaddr { return *n.ownTrackers.Load() }

// trackers returns the given trackers and the node's own, without duplicates.
func (n *Node) trackers(given []ma.Multiaddr) (all []ma.Multiaddr) {
	for _, t := range slices.Concat(given, n.Trackers()) {
		if !slices.ContainsFunc(all, t.Equal) {
			all = append(all, t)
		}
	}
	return all
}

// finder returns a client of the trackers of a link and of the node, nil if there are none.
func (n *Node) finder(link *proto.Link) Finder {
	trackers := n.trackers(link.Trackers)
	if n.cfg.Finder == nil || len(trackers) == 0 {
		return nil
	}
	return &linkFinder{node: n, link: link, trackers: trackers, client: n.cfg.Finder(n.host, trackers)}
}

// linkFinder is a client of the trackers of a link and of the node, which may change.
type linkFinder struct {
	node *Node
	link *proto.Link

	mu       sync.Mutex
	trackers []ma.Multiaddr // of client
	client   Finder
}

// Announce implements [Finder].
func (f *linkFinder) Announce(ctx context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	return f.current().Announce(ctx, a)
}

// Hosts implements [Finder].
func (f *linkFinder) Hosts(ctx context.Context, req *proto.HostsRequest) ([]proto.Host, error) {
	return f.current().Hosts(ctx, req)
}

// current returns the client of the trackers. If these have changed, it replaces the client.
func (f *linkFinder) current() Finder {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.node.trackers(f.link.Trackers)
	if len(all) > 0 && !slices.EqualFunc(all, f.trackers, ma.Multiaddr.Equal) {
		_ = f.client.Close() // its trackers remove the node once its announce expires
		f.trackers, f.client = all, f.node.cfg.Finder(f.node.host, all)
	}
	return f.client
}

// Close implements [Finder].
func (f *linkFinder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.client.Close()
}
