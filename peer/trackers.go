package peer

import (
	"context"
	"errors"
	"slices"
	"sync"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// Trackers returns the node's own trackers.
func (n *Node) Trackers() []ma.Multiaddr { return *n.own.Load() }

// SetTrackers replaces the node's own trackers. Running transfers announce themselves to the new
// ones with their next announce, but for those that had no tracker at all.
func (n *Node) SetTrackers(trackers []ma.Multiaddr) { n.own.Store(&trackers) }

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
	f := &currentFinder{node: n, link: link}
	f.mu.trackers, f.mu.client = trackers, n.cfg.Finder(n.host, trackers)
	return f
}

// currentFinder is the client of the trackers of a link and of those that the node has at the time.
type currentFinder struct {
	node *Node
	link *proto.Link

	mu struct {
		sync.Mutex
		trackers []ma.Multiaddr
		client   Finder
		closed   bool
	}
}

var errFinderClosed = errors.New("the transfer has ended")

// current returns the client of the trackers now, and the one that it replaced, if it did.
func (f *currentFinder) current() (now, old Finder, err error) {
	trackers := f.node.trackers(f.link.Trackers)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.closed {
		return nil, nil, errFinderClosed
	}
	if !slices.EqualFunc(trackers, f.mu.trackers, ma.Multiaddr.Equal) {
		old = f.mu.client
		f.mu.trackers, f.mu.client = trackers, f.node.cfg.Finder(f.node.host, trackers)
	}
	return f.mu.client, old, nil
}

// Announce implements [Finder].
func (f *currentFinder) Announce(ctx context.Context, a *proto.Announce) (*proto.Handout, error) {
	now, old, err := f.current()
	if err != nil {
		return nil, err
	}
	if old != nil {
		_ = old.Close()
	}
	return now.Announce(ctx, a)
}

// Close implements [Finder].
func (f *currentFinder) Close() error {
	f.mu.Lock()
	f.mu.closed = true
	client := f.mu.client
	f.mu.Unlock()
	return client.Close()
}
