package metadata

import (
	"context"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// Finder asks trackers. It may be called from any goroutine.
type Finder interface {
	// Announce tells of this node and returns members. It blocks for seconds at most.
	Announce(context.Context, *proto.Announce) (*proto.Handout, error)
}

// Announce tells trackers of this node under each name of a swarm, and returns the
// members that they tell of. It fails if no announce succeeds.
func Announce(ctx context.Context, f Finder, keys []cid.Cid, a proto.Announce) (*proto.Handout, error) {
	var all *proto.Handout
	var why error
	for _, key := range keys {
		a.Swarm = key.Bytes()
		h, err := f.Announce(ctx, &a)
		switch {
		case err != nil:
			why = err
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
	return nil, why
}
