package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// Transfer finds a transfer by its content id, its link, or the path of its
// content. It fails with [ErrUnknownTransfer].
func (n *Node) Transfer(name string) (*Transfer, error) {
	if link, err := proto.ParseLink(name); err == nil {
		name = link.Manifest.String()
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.transfers {
		if t.ID.String() == name || t.record().Root == abs {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknownTransfer)
}

// Transfers lists all, the oldest first.
func (n *Node) Transfers() []*Transfer {
	n.mu.Lock()
	defer n.mu.Unlock()
	ts := make([]*Transfer, 0, len(n.transfers))
	for _, t := range n.transfers {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b *Transfer) int {
		return cmp.Or(a.record().Added.Compare(b.record().Added), cmp.Compare(a.ID.KeyString(), b.ID.KeyString()))
	})
	return ts
}

// Remove stops a transfer and forgets it. The content stays where it is, unless
// deleteContent is set: then what was fetched is deleted. What is seeded from the
// user's own place is never deleted.
func (n *Node) Remove(t *Transfer, deleteContent bool) error {
	if deleteContent && t.record().Seed {
		return errors.New("the content was not fetched by mob: delete it yourself")
	}
	t.halt(ErrStopped)
	n.mu.Lock()
	defer n.mu.Unlock()
	if deleteContent {
		if err := os.RemoveAll(t.record().Root); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(n.transferDir(t.ID)); err != nil {
		return err
	}
	delete(n.transfers, t.ID)
	return nil
}

// callAhead connects to nodes that will soon be asked for something, in the
// background: from far away the handshakes take longer than the answer.
func (n *Node) callAhead(addrs []ma.Multiaddr) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		return // whoever asks them will say so
	}
	for _, info := range infos {
		n.wg.Go(func() {
			ctx, cancel := context.WithTimeout(n.ctx, dialTimeout)
			defer cancel()
			if err := n.host.Connect(ctx, info); err != nil {
				n.log.Debug("not reached in advance", "peer", info.ID, "error", err)
			}
		})
	}
}

// Manifest fetches the manifest of a link without starting a transfer. It
// blocks until a peer answers or ctx ends, and tells note what it waits for.
func (n *Node) Manifest(ctx context.Context, link *proto.Link, note func(string)) (*proto.Manifest, error) {
	finder := n.finder(link)
	if finder != nil {
		defer finder.Close()
		// To be told of members, one has to announce oneself.
		defer n.withdraw(ctx, link, finder)
	}
	t := newTransfer(n, link.Manifest, record{Link: link.String()})
	t.note = note
	m, _, _, err := t.seekManifest(ctx, finder)
	return m, err
}

// withdraw tells the trackers that this node is no member after all.
func (n *Node) withdraw(ctx context.Context, link *proto.Link, finder Finder) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	_, _ = finder.Announce(ctx, &proto.Announce{Swarm: link.Manifest.Bytes(), Cluster: n.cfg.Cluster, Leaving: true})
}
