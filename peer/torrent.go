package peer

import (
	"context"
	"crypto/sha1"
	"errors"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// scan makes the manifest of what is at root, and its info dictionary if that is
// wanted.
func (n *Node) scan(ctx context.Context, root string, opt SeedOptions) (m *proto.Manifest, info []byte, err error) {
	so := store.ScanOptions{PieceLength: opt.PieceLength, Progress: opt.Progress}
	if !opt.Torrent {
		so.Accept = func(m *proto.Manifest) error { // before hours of work
			_, err := opt.generations(m)
			return err
		}
		m, err = store.Scan(ctx, root, so)
		return m, nil, err
	}
	if n.cfg.Torrents == nil {
		return nil, nil, metadata.ErrNoTorrents
	}
	if opt.Coded != 0 || opt.Strategy.Gossip() {
		return nil, nil, errCodedTorrent
	}
	so.Accept = func(m *proto.Manifest) error { // what cannot be a torrent is told before hours of work
		_, err := n.cfg.Torrents.Build(m, make([]byte, m.Pieces()*sha1.Size))
		return err
	}
	m, sums, err := store.ScanSHA1(ctx, root, so)
	if err == nil {
		info, err = n.cfg.Torrents.Build(m, sums)
	}
	return m, info, err
}

// InfoHash is what BitTorrent clients call the content, zero when it is not offered
// to them.
func (t *Transfer) InfoHash() proto.InfoHash { return t.Link().InfoHash }

// Torrent is the content's info dictionary, nil when it is not offered to BitTorrent
// clients, or while the dictionary is not there yet. It must not be changed.
func (t *Transfer) Torrent() []byte { return t.Description().Torrent() }

// MakeTorrent returns the info dictionary of a content that is here, and hashes the
// content when it has to be made, telling progress how far that is. It does not
// offer the content to BitTorrent clients.
func (t *Transfer) MakeTorrent(ctx context.Context, progress func(done, total int64)) ([]byte, error) {
	return t.Description().MakeTorrent(func(m *proto.Manifest) ([]byte, error) {
		t.mu.Lock()
		st, whole := t.mu.store, t.mu.phase == Whole
		t.mu.Unlock()
		if st == nil || !whole {
			return nil, errors.New("the content is not whole here, so its torrent cannot be made: wait for that, or ask where it is seeded")
		}
		return store.SHA1(ctx, st, m, store.ScanOptions{Progress: progress})
	})
}
