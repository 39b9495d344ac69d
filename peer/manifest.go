package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/peer/book"
	"github.com/mobgrid/mob/peer/document"
	"github.com/mobgrid/mob/proto"
)

// fetchManifest asks one peer for the manifest of id and checks it.
func (n *Node) fetchManifest(ctx context.Context, info libpeer.AddrInfo, id cid.Cid) (*proto.Manifest, []byte, error) {
	b, err := n.fetchDocument(ctx, info, proto.ManifestProtocol, id, proto.MaxManifest)
	if err != nil {
		return nil, nil, err
	}
	m, err := proto.DecodeVerified(id, b)
	return m, b, err
}

// fetchDocument asks one peer for what describes a content.
func (n *Node) fetchDocument(ctx context.Context, info libpeer.AddrInfo, kind protocol.ID, id cid.Cid, limit int) ([]byte, error) {
	dctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	stream, err := n.open(dctx, info, kind)
	if err != nil {
		return nil, err
	}
	return document.Ask(ctx, stream, id, limit)
}

// errNobody is why a manifest is not there yet, while nobody is known.
var errNobody = errors.New("nobody is known who has the content")

// seekManifest asks members for the manifest until one has it. It returns also
// the members that it heard of. tell is told what it waits for.
func (t *Transfer) seekManifest(ctx context.Context, finder Finder) (*proto.Manifest, []byte, []proto.Member, error) {
	pause := 250 * time.Millisecond
	if link, err := proto.ParseLink(t.record().Link); err == nil {
		t.node.callAhead(slices.Concat(link.Trackers, link.Peers))
	}
	for {
		members, why := t.askTrackers(ctx, finder)
		t.note("looking for the content: " + why)
		m, b, err := t.askManifest(ctx, members)
		if err == nil {
			return m, b, members, nil
		}
		if ctx.Err() != nil {
			return nil, nil, nil, context.Cause(ctx)
		}
		t.note(fmt.Sprintf("looking for the content: %s; %v", why, err))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, nil, context.Cause(ctx)
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// askTrackers says in why how that went.
func (t *Transfer) askTrackers(ctx context.Context, finder Finder) (members []proto.Member, why string) {
	if finder == nil {
		return nil, "the link names no tracker"
	}
	h, err := finder.Announce(ctx, &proto.Announce{Swarm: t.ID.Bytes(), Cluster: t.node.cfg.Cluster, Addrs: t.node.addrBytes()})
	if err != nil {
		return nil, err.Error()
	}
	return h.Members, fmt.Sprintf("the tracker knows %d other nodes", len(h.Members))
}

// askManifest asks the own cluster first, then the link's peers, then others.
func (t *Transfer) askManifest(ctx context.Context, members []proto.Member) (*proto.Manifest, []byte, error) {
	err := errNobody
	for _, info := range t.candidates(members) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		m, b, e := t.node.fetchManifest(ctx, info, t.ID)
		if e == nil {
			return m, b, nil
		}
		err = fmt.Errorf("%s: %w", info.ID, e)
	}
	return nil, nil, err
}

func (t *Transfer) candidates(members []proto.Member) []libpeer.AddrInfo {
	var near, far []libpeer.AddrInfo
	for i := range members {
		id, err := libpeer.IDFromBytes([]byte(members[i].ID))
		if err != nil || id == t.node.host.ID() {
			continue
		}
		info := libpeer.AddrInfo{ID: id, Addrs: book.Multiaddrs(members[i].Addrs)}
		if members[i].Cluster == t.node.cfg.Cluster {
			near = append(near, info)
		} else {
			far = append(far, info)
		}
	}
	return append(append(near, t.linkPeers()...), far...)
}
