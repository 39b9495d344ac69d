package peer

import (
	"context"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Describe finds out what the content of a link is, without starting a transfer: its manifest, or its info dictionary if
// the link names no manifest. Unless a transfer of the node has that, it blocks until a peer has answered, the node closes
// or ctx ends, and calls status with a text of what it waits for.
func (n *Node) Describe(ctx context.Context, link *proto.Link, status func(string)) (*metadata.Description, error) {
	if len(link.Keys()) == 0 {
		return nil, errNoContent
	}
	if t := n.transfers.find(link.Keys()...); t != nil {
		d := t.Description()
		if link.Manifest.Defined() && d.EncodedManifest() != nil || d.Torrent() != nil {
			return d, nil
		}
	}
	if err := n.enter(); err != nil {
		return nil, err
	}
	defer n.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(errClosing) })()
	finder := n.ownTrackers.finder(link)
	if finder != nil {
		defer finder.Close()
		defer func() { // trackers send members only to members, so the node has announced itself
			if t := n.transfers.find(link.Keys()...); t != nil && t.state().running() { // the node stays a member
				return
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
			defer cancel()
			_, _ = metadata.Announce(ctx, finder, link.Keys(), proto.Announce{Cluster: n.cfg.Cluster, Leaving: true})
		}()
	}
	id := link.Keys()[0]
	d := metadata.NewDescription("", id, link, n.cfg.Torrents)
	_, err := n.describer.describe(ctx, n.describer.fetcher(id, link, d, finder, status))
	return d, err
}

// leaveTimeout bounds the last announce to the trackers.
const leaveTimeout = time.Second

// describer finds out what the content of links is.
type describer struct {
	cfg    *Config
	dialer *dialer
}

// describe finds out what the content is: from disk, or from members and BitTorrent clients. It
// returns the members that trackers and the link name.
func (by describer) describe(ctx context.Context, f *metadata.Fetcher) ([]proto.Member, error) {
	if err := f.Description.Load(); err != nil {
		f.Log.Warn("invalid description on disk", "error", err)
	}
	if f.Description.Manifest() != nil {
		return nil, nil
	}
	by.dialer.connectAddrs(slices.Concat(f.Link.Trackers, f.Link.Peers))
	return f.Fetch(ctx)
}

// clientsProblem returns why no BitTorrent clients are found for an info-hash, as the end of a status.
func (c *Config) clientsProblem(hash proto.InfoHash) string {
	if c.Describe == nil {
		return "; BitTorrent clients are not asked without --bt-listen"
	}
	if c.ClientsProblem == nil {
		return ""
	}
	if why := c.ClientsProblem(hash); why != "" {
		return "; " + oneLine(why)
	}
	return ""
}

// fetcher returns a fetcher of the manifest, torrent and plan of a link. It calls status with a text of what it waits for.
func (by describer) fetcher(
	id cid.Cid, link *proto.Link, d *metadata.Description, finder Finder, status func(string),
) *metadata.Fetcher {
	host := by.dialer.host
	return &metadata.Fetcher{
		Link:        link,
		Description: d,
		Finder:      finder,
		Clients:     by.cfg.Describe,
		NotAsked:    func() string { return by.cfg.clientsProblem(link.InfoHash) },
		Meet:        func(members []proto.Member) { by.meet(members, transport.AddrInfos(link.Peers, host.ID())) },
		Status:      func(waiting string) { status(oneLine(waiting)) },
		Log:         by.dialer.log.With("content", id.String()),
		Self:        host.ID(),
		Announce:    proto.Announce{Cluster: by.cfg.Cluster, Addrs: by.dialer.addrBytes()},
		OpenStream: func(ctx context.Context, info libpeer.AddrInfo, kind protocol.ID) (network.Stream, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return transport.OpenStream(ctx, host, info, kind)
		},
	}
}
