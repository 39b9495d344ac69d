package feed

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
)

// Publish signs the content of a complete transfer of the group's node as the next version of a feed, and casts it to the group: the
// head, and the content if it is small. The version before is the one of the group's newest head. If base is its transfer and
// complete, and most of a piece is the same as before, Publish makes a delta, and blocks while it does. The delta is served
// until the node closes, or [peer.Node.Release] ends the transfer of the head's Delta. base may be nil.
//
// Publish keeps nothing on the disk. A publisher that restarts joins its group and waits for the newest head first: else it
// signs another version with the same number. [Feeds.Post] records heads.
func Publish(ctx context.Context, g *group.Group, key crypto.PrivKey, v, base *peer.Transfer, note string) (*Head, error) {
	before, err := newestOf(g, key.GetPublic())
	if err != nil {
		return nil, err
	}
	makeDelta := func() (*peer.Transfer, error) {
		if base == nil || base.Status().Phase != peer.Whole {
			return nil, nil
		}
		f, err := datadir.Unnamed("")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return seedDelta(ctx, g.Node(), v, base, f)
	}
	h, content, _, err := prepare(ctx, g.Node(), before, v, PublishOptions{Note: note}, makeDelta, func(h *Head) error { return h.seal(key) })
	if err != nil {
		return nil, err
	}
	g.SetNewest(headMessage(h))
	return h, h.cast(ctx, g, content)
}

// newestOf returns the group's newest head, nil if there is none.
func newestOf(g *group.Group, key crypto.PubKey) (*Head, error) {
	signed, ok := headOf(g.Newest())
	if !ok {
		return nil, nil
	}
	h, err := openHead(signed, key)
	if err != nil {
		return nil, fmt.Errorf("the newest head: %w", err)
	}
	return h, nil
}

// Follow returns the heads of a feed whose versions are newer than have, as they arrive, with the content if the publisher
// casts it. A head that was not taken from the channel is replaced by a newer one. Old heads and those with an invalid
// signature are ignored, and so is another head of the newest version, with a warning in the default log. The channel is closed
// when ctx ends or the group is closed. Only Follow may receive the messages of the group.
func Follow(ctx context.Context, g *group.Group, key crypto.PubKey, have uint64) (<-chan Head, error) {
	newest, err := newestOf(g, key)
	if err != nil {
		return nil, err
	}
	f := &follower{
		heads:   &heads{group: g, key: key, log: slog.Default(), newest: newest},
		offered: make(chan *Head, 1), left: make(chan struct{}, 1),
	}
	if newest != nil {
		f.offer(newest)
	}
	received, taken := make(chan struct{}), make(chan Head, 1)
	go func() {
		defer close(received)
		f.receive(ctx, f.handle)
	}()
	go func() {
		defer close(taken)
		for {
			select {
			case h := <-f.offered:
				if h = f.withContent(ctx, h); h.Seq <= have {
					continue
				}
				select {
				case <-taken:
				default:
				}
				taken <- *h
			case <-received:
				return
			}
		}
	}()
	return taken, nil
}
