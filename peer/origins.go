package peer

import (
	"context"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Origin may have pieces that the node has not fetched: an earlier version on the disk does.
type Origin interface {
	// Read fills p with a piece, and reports whether it did. The bytes may be wrong: they are hashed. It must not wait
	// for the network. Several goroutines call it.
	Read(piece int, p []byte) bool
}

// takeOrigins stores the missing pieces that origins have. If these are all, the node connects to no other node for announceDelay.
func (r *run) takeOrigins() error {
	if len(r.origins) == 0 {
		return nil
	}
	m := r.verifier.Manifest()
	err := store.InParallel(r.ctx, m.Pieces(), func(i int) error {
		if r.store.Has(i) || r.disk != nil && r.disk.LeavesOut(i) {
			return nil
		}
		p := make([]byte, m.PieceSize(i))
		for _, o := range r.origins {
			if !o.Read(i, p) {
				continue
			}
			h := r.verifier.NewHash()
			if h.Write(p); !r.verifier.Verify(i, h) {
				continue
			}
			if _, err := r.store.WriteAt(p, m.PieceOffset(i)); err != nil {
				return err
			}
			return r.store.Commit(i)
		}
		return nil
	})
	if err == nil && r.finder != nil && r.store.Count() == m.Pieces() {
		r.finder = &laterFinder{r.finder, time.Now().Add(announceDelay)}
	}
	return err
}

// linkOfSwarm returns the link, without peers to dial if the node is to announce itself later.
func (r *run) linkOfSwarm() *proto.Link {
	link := r.state().rec.Link
	if _, later := r.finder.(*laterFinder); !later {
		return link
	}
	alone := *link
	alone.Peers = nil
	return &alone
}

// announceDelay is the time before a node with all pieces from origins announces itself. Until then it serves only
// nodes that know it. The next version may replace this one by then, and handshakes have more bytes than small content.
const announceDelay = 30 * time.Second

// laterFinder is a [Finder] that announces nothing before a time.
type laterFinder struct {
	Finder
	from time.Time
}

// Announce implements [Finder]. It blocks until the time, or until ctx ends.
func (f *laterFinder) Announce(ctx context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	if wait := time.Until(f.from); wait > 0 {
		if a.Leaving {
			return &proto.AnnounceReply{}, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return f.Finder.Announce(ctx, a)
}
