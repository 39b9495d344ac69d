package peer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// SetTrackers replaces the trackers of the node. Transfers use the new ones from
// their next announce or start on.
func (n *Node) SetTrackers(own []ma.Multiaddr) { n.ownTrackers.own.Store(&own) }

// Trackers returns the trackers of the node.
func (n *Node) Trackers() []ma.Multiaddr { return *n.ownTrackers.own.Load() }

// trackers are the trackers of a node, see [Config.Trackers].
type trackers struct {
	own    atomic.Pointer[[]ma.Multiaddr]
	client func([]ma.Multiaddr) Finder // nil if no tracker is asked
}

// with returns the given trackers and the node's own, without duplicates.
func (t *trackers) with(given []ma.Multiaddr) (all []ma.Multiaddr) {
	for _, a := range slices.Concat(given, *t.own.Load()) {
		if !slices.ContainsFunc(all, a.Equal) {
			all = append(all, a)
		}
	}
	return all
}

// finder returns a client of the trackers of a link and of the node, nil if there are none.
func (t *trackers) finder(link *proto.Link) Finder {
	all := t.with(link.Trackers)
	if t.client == nil || len(all) == 0 {
		return nil
	}
	return &linkFinder{trackers: t, link: link, of: all, client: t.client(all)}
}

// linkFinder is a client of the trackers of a link and of the node, which may change.
type linkFinder struct {
	trackers *trackers
	link     *proto.Link

	mu     sync.Mutex
	of     []ma.Multiaddr // the trackers of client
	client Finder
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
	all := f.trackers.with(f.link.Trackers)
	if len(all) > 0 && !slices.EqualFunc(all, f.of, ma.Multiaddr.Equal) {
		_ = f.client.Close() // its trackers remove the node once its announce expires
		f.of, f.client = all, f.trackers.client(all)
	}
	return f.client
}

// Close implements [Finder].
func (f *linkFinder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.client.Close()
}
