package peer

import (
	"context"
	"errors"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// InfoHash returns the content's info-hash, zero if it is not offered to BitTorrent clients.
func (t *Transfer) InfoHash() proto.InfoHash { return t.Link().InfoHash }

// Torrent returns the content's info dictionary, nil if the content is not offered to BitTorrent
// clients, or while the dictionary is not known yet. It must not be changed.
func (t *Transfer) Torrent() []byte { return t.Description().Torrent() }

// MakeTorrent returns the content's info dictionary. If it is not known, MakeTorrent hashes the
// content, which must be whole, and calls progress, if that is not nil, with the bytes hashed and
// to hash. It does not offer the content to BitTorrent clients.
func (t *Transfer) MakeTorrent(ctx context.Context, progress func(done, total int64)) ([]byte, error) {
	defer t.use()()
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
