package peer

import (
	"context"
	"slices"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// describe finds out what the content is: from the disk, if that was known before, or
// from whoever knows. It returns the members that it heard of.
func (t *Transfer) describe(ctx context.Context, finder Finder) ([]proto.Member, error) {
	d := t.Description()
	if err := d.Load(); err != nil {
		t.node.log.Warn("description on disk left out", "content", t.ID.String(), "error", err)
	}
	if d.Manifest() != nil {
		return nil, nil
	}
	t.node.callAhead(slices.Concat(t.Link().Trackers, t.Link().Peers))
	return t.fetcher(finder).Fetch(ctx)
}

// fetcher fetches what describes the content.
func (t *Transfer) fetcher(finder Finder) *metadata.Fetcher {
	n := t.node
	return &metadata.Fetcher{
		Link: t.Link(), Description: t.Description(), Finder: finder, Clients: n.cfg.Describe, Status: t.note,
		Log: n.log.With("content", t.ID.String()), Self: n.host.ID(),
		Announce: proto.Announce{Cluster: n.cfg.Cluster, Addrs: n.addrBytes()},
		OpenStream: func(ctx context.Context, info libpeer.AddrInfo, kind protocol.ID) (network.Stream, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return (*nodeNetwork)(n).OpenStream(ctx, info, kind)
		},
	}
}
