package metadata

import (
	"context"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// Finder announces a node to trackers. It may be called from any goroutine.
type Finder interface {
	// Announce announces this node and returns members of the swarm. It blocks for a
	// few seconds at most.
	Announce(context.Context, *proto.Announce) (*proto.AnnounceReply, error)
}

// Announce announces a node under each key of a swarm, and returns the members that the
// trackers name. It fails if every announce does.
func Announce(ctx context.Context, f Finder, keys []cid.Cid, a proto.Announce) (*proto.AnnounceReply, error) {
	var all *proto.AnnounceReply
	var last error
	for _, key := range keys {
		a.Swarm = key.Bytes()
		h, err := f.Announce(ctx, &a)
		switch {
		case err != nil:
			last = err
		case all == nil:
			all = h
		default:
			all.Interval = min(all.Interval, h.Interval)
			all.Members = append(all.Members, h.Members...)
		}
	}
	if all != nil {
		return all, nil
	}
	return nil, last
}
