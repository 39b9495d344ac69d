package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/proto"
)

// Transfer finds a transfer by a content id, a link, or the path of its content. It
// fails with [ErrUnknownTransfer].
func (n *Node) Transfer(name string) (*Transfer, error) {
	var keys []cid.Cid
	if link, err := proto.ParseLink(name); err == nil {
		keys = link.Keys()
	} else if id, err := cid.Decode(name); err == nil {
		keys = []cid.Cid{id}
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.find(keys); t != nil {
		return t, nil
	}
	for _, t := range n.transfers {
		if t.record().Root == abs {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", name, ErrUnknownTransfer)
}

// find is the transfer of a content with one of these keys, nil when there is none.
// One that was begun with a key goes before one that has it besides. The caller has the
// lock.
func (n *Node) find(keys []cid.Cid) *Transfer {
	for _, key := range keys {
		if t := n.transfers[key]; t != nil {
			return t
		}
	}
	for _, t := range n.transfers {
		if slices.ContainsFunc(t.keys(), func(key cid.Cid) bool { return slices.Contains(keys, key) }) {
			return t
		}
	}
	return nil
}

// lookup is find for a caller that does not have the lock.
func (n *Node) lookup(keys []cid.Cid) *Transfer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.find(keys)
}

// named returns the transfer of a content with that key, nil if there is none.
func (n *Node) named(key []byte) *Transfer {
	id, err := cid.Cast(key)
	if err != nil {
		return nil
	}
	return n.lookup([]cid.Cid{id})
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

// Remove stops a transfer and forgets it, and waits for the disk. The content stays where it
// is, unless deleteContent is set: then what was fetched is deleted. What is seeded from the
// user's own place is never deleted.
func (n *Node) Remove(t *Transfer, deleteContent bool) error {
	done, err := t.operate()
	if err != nil {
		return err
	}
	defer done()
	if t.removed {
		return nil
	}
	if deleteContent && t.record().Seed {
		return errors.New("the content was not fetched by mob: delete it yourself")
	}
	t.halt(ErrStopped)
	// What is at the root of a transfer that has not begun there is the user's.
	if r := t.record(); deleteContent && r.Begun {
		if err := n.fs.removeAll(r.Root); err != nil {
			return err
		}
	}
	if err := n.fs.removeAll(n.transferDir(t.ID)); err != nil {
		return err
	}
	t.forget()
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

// Describe finds out what the content of a link is, without starting a transfer: its
// manifest, or its info dictionary if the link names no manifest. It blocks until
// somebody answers or ctx ends, and tells note what it waits for.
func (n *Node) Describe(ctx context.Context, link *proto.Link, note func(string)) (*metadata.Description, error) {
	if len(link.Keys()) == 0 {
		return nil, errNoContent
	}
	if err := n.enter(); err != nil {
		return nil, err
	}
	defer n.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(errClosing) })()
	finder := n.finder(link)
	if finder != nil {
		defer finder.Close()
		// To be told of members, one has to announce oneself.
		defer n.withdraw(ctx, link, finder)
	}
	t := newTransfer(n, link.Keys()[0], metadata.Record{Link: link})
	t.note = note
	d := metadata.NewDescription("", t.ID, link.InfoHash, n.cfg.Torrents)
	t.mu.desc = d
	_, err := t.describe(ctx, finder)
	return d, err
}

// leaveTimeout bounds the last announce.
const leaveTimeout = time.Second

// withdraw tells the trackers that this node is no member after all.
func (n *Node) withdraw(ctx context.Context, link *proto.Link, finder Finder) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	_, _ = metadata.Announce(ctx, finder, link.Keys(), proto.Announce{Cluster: n.cfg.Cluster, Leaving: true})
}
